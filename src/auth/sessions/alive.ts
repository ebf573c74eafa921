/** What `IS_ALIVE` needs besides a session `s`. */
export const WITH_PARENT = '';

/** A session `s` whose tokens are good. */
export const IS_ALIVE = 's.revoked_at IS NULL';

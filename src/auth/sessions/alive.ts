/** The parent `p` of a session `s`. */
export const WITH_PARENT = 'LEFT JOIN sessions p ON p.id = s.parent_id';

/** The user `u` and the parent `p` of a session `s`. */
export const WITH_USER_AND_PARENT = `JOIN users u ON u.id = s.user_id ${WITH_PARENT}`;

/**
 * Neither a session `s` nor its parent `p` is revoked. The parent counts because a session may be born, on another
 * node too, while its parent is being ended; what is older is ended with it.
 */
export const IS_UNREVOKED =
  's.revoked_at IS NULL AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))';

/** The user `u` of a session `s` is neither disabled nor in another epoch. */
export const HAS_ACTIVE_USER = 's.auth_epoch = u.auth_epoch AND u.disabled_at IS NULL';

/** What makes a session `s` usable. */
export const IS_ALIVE = `${IS_UNREVOKED} AND ${HAS_ACTIVE_USER}`;

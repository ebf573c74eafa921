/** The parent `p` of a session `s`. */
export const WITH_PARENT = 'LEFT JOIN sessions p ON p.id = s.parent_id';

/**
 * A session `s` is alive while neither it nor its parent `p` is revoked. The parent counts because a session
 * may be born, on another node too, while its parent is being ended; what is older is ended with it.
 */
export const IS_ALIVE =
  's.revoked_at IS NULL AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))';

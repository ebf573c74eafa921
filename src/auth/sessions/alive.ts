export const WITH_PARENT = 'LEFT JOIN sessions p ON p.id = s.parent_id';

/**
 * Neither the session `s` nor its parent `p` is revoked. The parent counts, since a session may be derived
 * from it while it is being revoked, on another node too.
 */
export const IS_ALIVE =
  's.revoked_at IS NULL AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))';

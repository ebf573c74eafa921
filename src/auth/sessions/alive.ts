export const WITH_PARENT = 'LEFT JOIN sessions p ON p.id = s.parent_id';

/** The parent counts: a session may be derived while its parent is being revoked, on another node too. */
export const IS_ALIVE =
  's.revoked_at IS NULL AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))';

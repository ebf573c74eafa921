/** The user `u` and the parent `p` of a session `s`. */
export const WITH_USER_AND_PARENT =
  'JOIN users u ON u.id = s.user_id LEFT JOIN sessions p ON p.id = s.parent_id';

/**
 * A session `s` is alive while neither it nor its parent `p` is revoked, and its user `u` is neither disabled nor in
 * another epoch. The parent counts because a session may be born, on another node too, while its parent is being
 * ended; what is older is ended with it.
 */
export const IS_ALIVE = `s.revoked_at IS NULL AND s.auth_epoch = u.auth_epoch AND u.disabled_at IS NULL
  AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))`;

export const JOIN_PARENT = 'LEFT JOIN sessions p ON p.id = s.parent_id';

export const JOIN_USER_AND_PARENT = `JOIN users u ON u.id = s.user_id ${JOIN_PARENT}`;

/** The parent counts: a session may be born while its parent is ended, on another node too; older ones end with it. */
export const IS_UNREVOKED =
  's.revoked_at IS NULL AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))';

export const HAS_ACTIVE_USER = 's.auth_epoch = u.auth_epoch AND u.disabled_at IS NULL';

export const IS_ALIVE = `${IS_UNREVOKED} AND ${HAS_ACTIVE_USER}`;

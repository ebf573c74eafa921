/** The login and the head of the branch of a delegated session `s`; for a head, the head is `s` itself. */
export const JOIN_FAMILY = `LEFT JOIN sessions login ON login.id = s.login_id
  LEFT JOIN sessions head ON head.id = s.branch_id`;

const JOIN_SERVICE = 'LEFT JOIN services v ON v.name = s.service AND v.disabled_at IS NULL';
export const JOIN_FAMILY_AND_SERVICE = `${JOIN_FAMILY} ${JOIN_SERVICE}`;
export const JOIN_USER_FAMILY_AND_SERVICE = `JOIN users u ON u.id = s.user_id ${JOIN_FAMILY_AND_SERVICE}`;

/** Another node can open a session while its family is revoked, so the login and the head count as well. */
export const IS_UNREVOKED = `s.revoked_at IS NULL AND (s.login_id IS NULL OR (login.id IS NOT NULL
  AND login.revoked_at IS NULL AND head.id IS NOT NULL AND head.revoked_at IS NULL))`;

// Enabling a second factor ends all other sessions, so every session of the user has shown it.
const HAS_SHOWN_SECOND_FACTOR = "(u.second_factor_at IS NULL OR s.amr LIKE '%otp')";
export const HAS_ACTIVE_USER = `s.auth_epoch = u.auth_epoch AND u.disabled_at IS NULL AND ${HAS_SHOWN_SECOND_FACTOR}`;
const HAS_ACTIVE_SERVICE = '(s.bound_epoch IS NULL OR s.bound_epoch = v.epoch)';

/** Contains no expiry: the list and refresh compare it, and the access token carries it. */
export const IS_ALIVE = `${IS_UNREVOKED} AND ${HAS_ACTIVE_USER} AND ${HAS_ACTIVE_SERVICE}`;

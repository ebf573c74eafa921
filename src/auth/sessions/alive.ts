import { PASSWORD_AND_CODE, storedMethods } from './authentication-methods.js';

export const JOIN_PARENT = 'LEFT JOIN sessions p ON p.id = s.parent_id';

/** Finds the service that exchanged the code, while it is enabled. */
export const JOIN_SERVICE = 'LEFT JOIN services v ON v.name = s.service AND v.disabled_at IS NULL';

/** All that IS_ALIVE asks. */
export const JOIN_USER_PARENT_AND_SERVICE = `JOIN users u ON u.id = s.user_id ${JOIN_PARENT} ${JOIN_SERVICE}`;

/** The parent counts: a session may be born while its parent is ended, on another node too; older ones end with it. */
export const IS_UNREVOKED =
  's.revoked_at IS NULL AND (s.parent_id IS NULL OR (p.id IS NOT NULL AND p.revoked_at IS NULL))';

// Every session of a user with a second factor has shown it: enabling one ends all others. A session that has not was opened by an
// older instance, which asks for the password alone.
const HAS_SHOWN_SECOND_FACTOR = `(u.second_factor_at IS NULL OR s.amr = '${storedMethods(PASSWORD_AND_CODE)}')`;

export const HAS_ACTIVE_USER = `s.auth_epoch = u.auth_epoch AND u.disabled_at IS NULL AND ${HAS_SHOWN_SECOND_FACTOR}`;

/** A service that was disabled or removed, or whose sessions were ended, has left the epoch in which it exchanged the code. */
const HAS_ACTIVE_SERVICE = '(s.bound_epoch IS NULL OR s.bound_epoch = v.epoch)';

export const IS_ALIVE = `${IS_UNREVOKED} AND ${HAS_ACTIVE_USER} AND ${HAS_ACTIVE_SERVICE}`;

import { LEEWAY_SECONDS } from '../../auth/tokens/access-token.js';
import { readKeyFile } from '../../auth/tokens/key-file.js';
import { KeyRing, readKeySet } from '../../auth/tokens/signing-keys.js';
import { EncryptedSecrets } from '../../auth/tokens/derived-keys.js';
import { type Check, emptyQuery, everyValue } from './check.js';

/** longer than the pause of the clean-up, which completes revocations */
const UNFINISHED_AFTER_MS = 180_000;
const LEEWAY_MS = LEEWAY_SECONDS * 1000;
const REVOKE = 'Revoke these sessions: UPDATE sessions SET revoked_at = created_at WHERE id = …';

export const SESSION_CHECKS: Check[] = [
  emptyQuery(
    'no revocation has been left unfinished',
    'Start an instance: it completes them within two minutes. If one is running, its log says why it cannot.',
    'SELECT session_id AS fault FROM pending_revocations WHERE since < ?',
    () => [Date.now() - UNFINISHED_AFTER_MS],
  ),
  emptyQuery(
    'no session expires before it begins',
    REVOKE,
    'SELECT id AS fault FROM sessions WHERE expires_at < created_at AND revoked_at IS NULL',
  ),
  emptyQuery(
    'no session begins before its login',
    `Synchronize the clocks of all instances (NTP): they differ by more than ${LEEWAY_SECONDS} s, and the sessions are sound.
       If hours lie between, somebody changed the rows: revoke those.`,
    'SELECT id AS fault FROM sessions WHERE auth_time > created_at + ? AND revoked_at IS NULL',
    () => [LEEWAY_MS],
  ),
  emptyQuery(
    'no session outlives SESSION_MAX_AGE after its login',
    `The setting was lowered, or somebody changed the rows; their tokens are refused already. ${REVOKE}`,
    'SELECT id AS fault FROM sessions WHERE expires_at > auth_time + ? AND revoked_at IS NULL',
    ({ sessionMaxAge }) => [sessionMaxAge * 1000 + LEEWAY_MS],
  ),
  emptyQuery(
    'every session that a code opened has its login and the first session of its branch',
    'Delete these sessions: their tokens do not work, and their families cannot be ended.',
    `SELECT s.id AS fault FROM sessions s
       LEFT JOIN sessions l ON l.id = s.login_id LEFT JOIN sessions h ON h.id = s.branch_id
      WHERE (s.login_id IS NULL) <> (s.code_hash IS NULL) OR (s.login_id IS NULL) <> (s.branch_id IS NULL)
         OR (s.login_id IS NOT NULL AND (l.id IS NULL OR h.id IS NULL))`,
  ),
  emptyQuery(
    'no session that a code opened is refreshed',
    REVOKE,
    'SELECT id AS fault FROM sessions WHERE refresh_generation > 0 AND login_id IS NOT NULL AND revoked_at IS NULL',
  ),
  emptyQuery(
    'every session that a code opened has the user and the time of its login, and the login of its branch',
    REVOKE,
    `SELECT s.id AS fault FROM sessions s
       JOIN sessions l ON l.id = s.login_id JOIN sessions h ON h.id = s.branch_id
      WHERE s.user_id <> l.user_id OR s.auth_time <> l.auth_time OR l.login_id IS NOT NULL
         OR h.login_id <> s.login_id OR h.branch_id <> h.id`,
  ),
  emptyQuery(
    'every account asks for the second factor that is enabled for it',
    'Remove the second factor and let the user set it up anew: accounts users remove-second-factor …',
    `SELECT u.id AS fault FROM users u
       LEFT JOIN second_factors f ON f.user_id = u.id AND f.enabled_at IS NOT NULL
      WHERE COALESCE(u.second_factor_at, 0) <> COALESCE(f.enabled_at, 0)`,
  ),
  emptyQuery(
    'no account without a second factor has recovery codes',
    'Delete them: DELETE FROM recovery_codes WHERE user_id = …',
    `SELECT DISTINCT c.user_id AS fault FROM recovery_codes c JOIN users u ON u.id = c.user_id
      WHERE u.second_factor_at IS NULL`,
  ),
  emptyQuery(
    'every second factor is either enabled or pending for a time',
    'Delete the rows without enabled_at, and set pending_until to NULL in the others.',
    'SELECT user_id AS fault FROM second_factors WHERE (enabled_at IS NULL) = (pending_until IS NULL)',
  ),
  everyValue(
    'a key of JWT_KEYS_FILE opens the secret of every second factor',
    'Restore the key file that belongs to these data. Without it these users need a recovery code, or you: accounts users remove-second-factor …',
    'SELECT user_id AS id, secret AS value FROM second_factors WHERE user_id > ? ORDER BY user_id',
    ({ jwtKeysFile }) => {
      const keys = new KeyRing(readKeySet(readKeyFile(jwtKeysFile)));
      const secrets = new EncryptedSecrets(keys, 'second factor secrets');
      return (secret, userId) => secrets.decrypt(secret, userId) !== undefined;
    },
  ),
];

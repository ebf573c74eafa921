import { LEEWAY_SECONDS } from '../../auth/tokens/access-token.js';
import { type Check, emptyQuery } from './check.js';

/** exceeds the pause between two runs of the clean-up, which completes revocations */
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
    'the session that issued a code exists as long as the session that the code opened',
    'Delete these sessions: their tokens do not work, and sessions derived from them must not work either.',
    `SELECT s.id AS fault FROM sessions s
      WHERE (s.parent_id IS NULL) <> (s.code_hash IS NULL)
         OR (s.parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent_id))`,
  ),
  emptyQuery(
    'no session that a code opened is refreshed',
    REVOKE,
    'SELECT id AS fault FROM sessions WHERE refresh_generation > 0 AND parent_id IS NOT NULL AND revoked_at IS NULL',
  ),
  emptyQuery(
    'every session that a code opened has the login of the session that issued the code',
    REVOKE,
    `SELECT s.id AS fault FROM sessions s JOIN sessions p ON p.id = s.parent_id
      WHERE s.user_id <> p.user_id OR s.auth_time <> p.auth_time`,
  ),
  emptyQuery(
    'no session is alive that derives from one that ended with all its derived sessions',
    REVOKE,
    // A child derived while its parent was being revoked may lack revoked_at: it ends with its parent.
    `SELECT s.id AS fault FROM sessions s
       JOIN sessions p ON p.id = s.parent_id JOIN sessions g ON g.id = p.parent_id
      WHERE s.revoked_at IS NULL AND p.revoked_at IS NULL AND g.descendants_revoked_at IS NOT NULL`,
  ),
];

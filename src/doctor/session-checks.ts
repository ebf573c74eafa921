import { LEEWAY_SECONDS } from '../auth/tokens/access-token.js';
import { type Check, emptyQuery } from './check.js';

const LEEWAY_MS = LEEWAY_SECONDS * 1000;
const REVOKE = 'Revoke these sessions: UPDATE sessions SET revoked_at = created_at WHERE id = …';

/** How long sessions live. Of one that is revoked nothing is asked any more. */
export const SESSION_CHECKS: Check[] = [
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
];

import { type Check, emptyQuery } from './check.js';

const REMOVE =
  'Remove the second factor and let the user set it up anew: accounts users remove-second-factor …';

export const SECOND_FACTOR_CHECKS: Check[] = [
  emptyQuery(
    'every account asks for the second factor that is enabled for it',
    REMOVE,
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
];

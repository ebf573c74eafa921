import { type Check, emptyQuery } from './check.js';

/** Grants that are older than the record are not checked. */
export const OPERATOR_CHECKS: Check[] = [
  emptyQuery(
    'every operator was granted by a command',
    'Somebody changed rows by hand, or deleted events. Take it back, unless you know better: accounts operators revoke …',
    `SELECT u.id AS fault FROM users u
      WHERE u.operator_since > (SELECT e.at FROM events e ORDER BY e.id LIMIT 1)
        AND NOT EXISTS (SELECT 1 FROM events g WHERE g.user_id = u.id AND g.type = 'account.operator_granted'
          AND NOT EXISTS (SELECT 1 FROM events r WHERE r.user_id = u.id
            AND r.type = 'account.operator_revoked' AND r.user_revision > g.user_revision))`,
  ),
];

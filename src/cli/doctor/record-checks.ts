import { type Check, emptyQuery } from './check.js';

const LAST_OF_MEMBERSHIP = `FROM events e WHERE e.type LIKE 'member.%' AND NOT EXISTS (
  SELECT 1 FROM events x WHERE x.org_id = e.org_id AND x.user_id = e.user_id AND x.type LIKE 'member.%'
    AND (x.org_revision > e.org_revision OR (x.org_revision = e.org_revision AND x.id > e.id)))`;

/** A purge deletes memberships, batch by batch, without an event for each. */
const IS_PURGED = `(EXISTS (SELECT 1 FROM events p WHERE p.org_id = e.org_id AND p.type = 'org.purged')
  OR EXISTS (SELECT 1 FROM orgs o WHERE o.id = e.org_id AND o.purge_began_at IS NOT NULL))`;

export const RECORD_CHECKS: Check[] = [
  emptyQuery(
    'every membership agrees with its last event',
    'Somebody changed rows by hand, or deleted events. Compare `GET /api/orgs/:orgId/events` with the members.',
    `SELECT e.id AS fault ${LAST_OF_MEMBERSHIP}
      AND NOT ${IS_PURGED}
      AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = e.org_id AND m.user_id = e.user_id
        AND (e.data LIKE CONCAT('%"to":"', m.role, '"%')
          OR (e.type = 'member.added' AND e.data LIKE CONCAT('%"role":"', m.role, '"%'))))
      AND (e.type <> 'member.removed'
        OR EXISTS (SELECT 1 FROM members m WHERE m.org_id = e.org_id AND m.user_id = e.user_id))`,
  ),
  emptyQuery(
    'every revision of an organization belongs to one change',
    'Somebody changed rows by hand, or a backup was restored beside a running service.',
    `SELECT CONCAT(org_id, ' ', org_revision) AS fault FROM events WHERE org_id IS NOT NULL
      GROUP BY org_id, org_revision HAVING COUNT(DISTINCT at) > 1`,
  ),
];

import { firstEntityIdAt } from '../../identifiers/entity-id.js';
import { type Check, emptyQuery } from './check.js';

const LAST_OF_MEMBERSHIP = `FROM events e WHERE e.type LIKE 'member.%' AND NOT EXISTS (
  SELECT 1 FROM events x WHERE x.org_id = e.org_id AND x.user_id = e.user_id AND x.type LIKE 'member.%'
    AND (x.org_revision > e.org_revision OR (x.org_revision = e.org_revision AND x.id > e.id)))`;

/** A purge deletes memberships without an event for each. */
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

/** A round takes a second, and clocks differ. */
const LONG_MS = 600_000;

const earlier = (revision: string, subject: string): string => `SELECT id AS fault FROM (
    SELECT e.id, e.${revision} AS revision,
      LAG(e.${revision}) OVER (PARTITION BY e.${subject} ORDER BY f.seq) AS previous
    FROM feed f JOIN events e ON e.id = f.event_id WHERE e.${revision} IS NOT NULL) placed
  WHERE revision < previous`;

const ANEW = 'Services have read it in a wrong order. Let them begin anew: accounts after-restore …';

export const FEED_CHECKS: Check[] = [
  emptyQuery(
    'no event waits for long for its place in the feed',
    'Start an instance: it numbers them within seconds. If one is running, its log says why it cannot.',
    `SELECT e.id AS fault FROM events e LEFT JOIN feed f ON f.event_id = e.id
      WHERE e.pending = 1 AND e.id < ? AND f.seq IS NULL`,
    () => [firstEntityIdAt(Date.now() - LONG_MS)],
  ),
  emptyQuery(
    'no event that has its place in the feed is still marked for long',
    'The feed becomes slower with each. The database account of the service needs UPDATE (pending) on events.',
    `SELECT e.id AS fault FROM events e JOIN feed f ON f.event_id = e.id WHERE e.pending = 1 AND e.id < ?`,
    () => [firstEntityIdAt(Date.now() - LONG_MS)],
  ),
  emptyQuery(
    'the feed has no gap',
    'Somebody deleted rows by hand. Let services begin anew: accounts after-restore …',
    `SELECT f.seq AS fault FROM feed f LEFT JOIN feed p ON p.seq = f.seq - 1
      WHERE p.seq IS NULL AND f.seq > (SELECT MIN(n.seq) FROM feed n)`,
  ),
  emptyQuery(
    'the feed has the events of each organization in the order of its revision',
    ANEW,
    earlier('org_revision', 'org_id'),
  ),
  emptyQuery(
    'the feed has the events of each account in the order of its revision',
    ANEW,
    earlier('user_revision', 'user_id'),
  ),
];

import { firstEntityIdAt } from '../../identifiers/entity-id.js';
import { type Check, emptyQuery } from './check.js';

const LAST_OF_MEMBERSHIP = `FROM events e WHERE e.type LIKE 'member.%' AND NOT EXISTS (
  SELECT 1 FROM events x WHERE x.org_id = e.org_id AND x.user_id = e.user_id AND x.type LIKE 'member.%'
    AND (x.org_revision > e.org_revision OR (x.org_revision = e.org_revision AND x.id > e.id)))`;

const IS_PURGED = `(EXISTS (SELECT 1 FROM events p WHERE p.org_id = e.org_id AND p.type = 'org.purged')
  OR EXISTS (SELECT 1 FROM orgs o WHERE o.id = e.org_id AND o.purge_began_at IS NOT NULL))`;

const LONG_MS = 600_000;

const earlier = (revision: string, subject: string): string => `SELECT id AS fault FROM (
    SELECT e.id, e.${revision} AS revision,
      LAG(e.${revision}) OVER (PARTITION BY e.${subject} ORDER BY f.seq) AS previous
    FROM feed f JOIN events e ON e.id = f.event_id WHERE e.${revision} IS NOT NULL) placed
  WHERE revision < previous`;

const RESET = 'Services have read events in a wrong order. Reset the event feed: accounts after-restore …';

export const AUDIT_LOG_CHECKS: Check[] = [
  // Does not check grants that are older than the audit log.
  emptyQuery(
    'every operator was granted by a command',
    'The rows were changed by hand, or events were deleted. If you do not know why, run accounts operators revoke …',
    `SELECT u.id AS fault FROM users u
      WHERE u.operator_since > (SELECT e.at FROM events e ORDER BY e.id LIMIT 1)
        AND NOT EXISTS (SELECT 1 FROM events g WHERE g.user_id = u.id AND g.type = 'account.operator_granted'
          AND NOT EXISTS (SELECT 1 FROM events r WHERE r.user_id = u.id
            AND r.type = 'account.operator_revoked' AND r.user_revision > g.user_revision))`,
  ),
  emptyQuery(
    'no removed service has a live secret, and no other service has more than two',
    'Revoke them: UPDATE service_secrets SET revoked_at = created_at WHERE service = … AND revoked_at IS NULL',
    `SELECT v.name AS fault FROM services v JOIN service_secrets x ON x.service = v.name
      WHERE x.revoked_at IS NULL GROUP BY v.name, v.removed_at
      HAVING COUNT(*) > 2 OR v.removed_at IS NOT NULL`,
  ),
  emptyQuery(
    'every removed service is disabled',
    'Accounts would accept its secrets and sessions: UPDATE services SET disabled_at = removed_at WHERE name = …',
    'SELECT name AS fault FROM services WHERE removed_at IS NOT NULL AND disabled_at IS NULL',
  ),
  emptyQuery(
    'no delegated session of a disabled or removed service has its epoch, or a later one',
    'Accounts would accept it, now or later. Revoke these sessions: UPDATE sessions SET revoked_at = created_at WHERE id = …',
    `SELECT s.id AS fault FROM sessions s LEFT JOIN services v ON v.name = s.service
      WHERE s.bound_epoch IS NOT NULL AND s.revoked_at IS NULL
        AND (v.name IS NULL OR s.bound_epoch > v.epoch
          OR (s.bound_epoch = v.epoch AND (v.disabled_at IS NOT NULL OR v.removed_at IS NOT NULL)))`,
  ),
  emptyQuery(
    'every call names two services that exist',
    'The rows were changed by hand. Accounts accepts no such call: DELETE FROM service_calls WHERE caller = … AND callee = …',
    `SELECT CONCAT(c.caller, ' ', c.callee) AS fault FROM service_calls c
      LEFT JOIN services f ON f.name = c.caller LEFT JOIN services t ON t.name = c.callee
      WHERE f.name IS NULL OR t.name IS NULL`,
  ),
  emptyQuery(
    'an email has at most one pending invitation to an organization',
    "The rows were changed by hand: UPDATE invitations SET status = 'revoked', pending = NULL on all but the latest.",
    `SELECT MIN(i.id) AS fault FROM invitations i WHERE i.status = 'pending'
      GROUP BY i.org_id, i.email HAVING COUNT(*) > 1`,
  ),
  emptyQuery(
    'every invitation is pending, or has ended',
    "The rows were changed by hand: UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = created_at WHERE id = …",
    `SELECT i.id AS fault FROM invitations i
      WHERE (i.status = 'pending' AND (i.pending IS NULL OR i.ended_at IS NOT NULL))
         OR (i.status <> 'pending' AND (i.pending IS NOT NULL OR i.ended_at IS NULL))`,
  ),
  emptyQuery(
    'every pending invitation is from a user who may invite',
    "The invited user cannot accept it: UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = created_at WHERE id = …",
    `SELECT i.id AS fault FROM invitations i WHERE i.pending = 1 AND NOT EXISTS (
        SELECT 1 FROM members m JOIN users u ON u.id = m.user_id JOIN orgs o ON o.id = m.org_id
        WHERE m.org_id = i.org_id AND m.user_id = i.invited_by AND m.role IN ('admin', 'owner')
          AND u.disabled_at IS NULL AND o.deleted_at IS NULL)`,
  ),
  emptyQuery(
    'every membership matches its last event',
    'The rows were changed by hand, or events were deleted. Compare `GET /api/orgs/:orgId/events` with the members.',
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
    'The rows were changed by hand, or a backup was restored while Accounts was running.',
    `SELECT CONCAT(org_id, ' ', org_revision) AS fault FROM events WHERE org_id IS NOT NULL
      GROUP BY org_id, org_revision HAVING COUNT(DISTINCT at) > 1`,
  ),
  emptyQuery(
    'no event waits long for its position in the event feed',
    'Start an instance: it numbers them within seconds. If one is running, find the reason in its log.',
    `SELECT e.id AS fault FROM events e LEFT JOIN feed f ON f.event_id = e.id
      WHERE e.pending = 1 AND e.id < ? AND f.seq IS NULL`,
    () => [firstEntityIdAt(Date.now() - LONG_MS)],
  ),
  emptyQuery(
    'no event with a position in the event feed stays marked as pending',
    'Each of these events slows the feed down. The database user of Accounts needs UPDATE (pending) on events.',
    `SELECT e.id AS fault FROM events e JOIN feed f ON f.event_id = e.id WHERE e.pending = 1 AND e.id < ?`,
    () => [firstEntityIdAt(Date.now() - LONG_MS)],
  ),
  emptyQuery(
    'the event feed has no gap',
    'Rows were deleted by hand. Reset the event feed: accounts after-restore …',
    `SELECT f.seq AS fault FROM feed f LEFT JOIN feed p ON p.seq = f.seq - 1
      WHERE p.seq IS NULL AND f.seq > (SELECT MIN(n.seq) FROM feed n)`,
  ),
  emptyQuery(
    'the event feed has the events of each organization in the order of their revisions',
    RESET,
    earlier('org_revision', 'org_id'),
  ),
  emptyQuery(
    'the event feed has the events of each user in the order of their revisions',
    RESET,
    earlier('user_revision', 'user_id'),
  ),
];

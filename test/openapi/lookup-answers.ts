import { makeOperator, showSecondFactor } from '../support/operators.js';
import { anAccount, anUnknownId } from '../support/personas.js';
import type { Service } from '../support/service.js';
import type { ExampleAnswers } from './example-answers.js';

const TOMORROW = Date.now() + 86_400_000;

/** Gets answered what operators look up, about rows that are deleted again: nobody else must be there. */
export async function collectLookupAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  // Enrolling would mail a notice, and the status counts what waits.
  const operator = await anAccount(service);
  await makeOperator(service, operator);
  await showSecondFactor(service, operator);
  await examples.send('getStatus', { by: operator });
  const [userId, graceId, zoeId] = [anUnknownId(), anUnknownId(), anUnknownId()];
  const orgs = [anUnknownId(), anUnknownId()].toSorted((a, b) => (a < b ? -1 : 1));
  const [orgId] = orgs as [string, string];
  const eventIds = [anUnknownId(), anUnknownId()];
  const session = anUnknownId();

  const insert = (table: string, columns: string, ...rows: unknown[][]) =>
    service.db.query(
      `INSERT INTO ${table} (${columns}) VALUES ${rows.map((row) => `(${row.map(() => '?').join()})`).join()}`,
      rows.flat() as string[],
    );
  const names = ['ada', 'grace', 'zoe'];
  const ids = [userId, graceId, zoeId];
  await insert(
    'users',
    'id, email, password_hash, created_at',
    ...ids.map((id, n) => [id, `${names[n]}@example.com`, 'none', 1]),
  );
  await insert(
    'sessions',
    'id, user_id, auth_time, created_at, expires_at, ip, user_agent, device_name, amr',
    [session, userId, 1, 1, TOMORROW, '127.0.0.1', 'Analytical Desktop/1.4 (Linux)', "Ada's laptop", 'pwd'],
  );
  await insert(
    'orgs',
    'id, name, revision, created_at',
    ...orgs.map((id) => [id, 'Analytical Engines', 2, 1]),
  );
  await insert(
    'members',
    'org_id, user_id, email, role, joined_at',
    [orgId, userId, 'ada@example.com', 'owner', 1],
    [orgs[1], userId, 'ada@example.com', 'owner', 2],
    [orgId, graceId, 'grace@example.com', 'member', 3],
    [orgId, zoeId, 'zoe@example.com', 'member', 4],
  );
  await insert(
    'events',
    'id, type, at, actor_type, actor_id, actor_session_id, org_id, org_revision, user_id, data, ip, request_id',
    [
      eventIds[0],
      'org.created',
      1,
      'user',
      userId,
      session,
      orgId,
      1,
      null,
      '{}',
      '127.0.0.1',
      anUnknownId(),
    ],
    [
      eventIds[1],
      'member.added',
      1,
      'user',
      userId,
      session,
      orgId,
      2,
      graceId,
      '{"role":"member","via":"added"}',
      '127.0.0.1',
      anUnknownId(),
    ],
  );
  await insert(
    'mails',
    'id, kind, recipient, state, created_at, next_attempt_at, attempts, expires_at, ended_at, last_error',
    ...[1, 2].map(() => [
      anUnknownId(),
      'password_reset',
      'ada@example.com',
      'failed',
      1,
      1,
      1,
      2,
      3,
      'EENVELOPE 550',
    ]),
  );
  await insert('services', 'name, allow, created_at', ['billing', 'introspect', 1], ['zeta', '', 1]);
  await insert('service_secrets', 'id, service, hash, created_at', [anUnknownId(), 'billing', 'none', 1]);

  const lists: Record<string, string> = {
    listUsers: '?limit=1',
    listUserOrgs: '?limit=1',
    listOrgs: '?limit=1',
    listAnyMembers: '?limit=2',
    listRecord: `?orgId=${orgId}&limit=1`,
    listMails: '?limit=1',
    listServices: '?limit=1',
  };
  const path = { userId, orgId, name: 'billing' };
  for (const [id, query] of Object.entries(lists)) {
    await examples.send(id, { by: operator, path, query });
    await examples.send(id, { by: operator, path, query: '?limit=0' });
  }
  for (const id of ['getUser', 'listUserSessions', 'getAnyOrg', 'getService'])
    await examples.send(id, { by: operator, path });
  for (const id of [
    'getUser',
    'listUserSessions',
    'listUserOrgs',
    'getAnyOrg',
    'listAnyMembers',
    'getService',
  ])
    await examples.send(id, { by: operator });

  await service.db.query("DELETE FROM service_secrets WHERE service = 'billing'");
  await service.db.query("DELETE FROM services WHERE name IN ('billing', 'zeta')");
  await service.db.query("DELETE FROM mails WHERE recipient = 'ada@example.com'");
  await service.db.query('DELETE FROM members WHERE org_id IN (?, ?)', orgs);
  await service.db.query('DELETE FROM orgs WHERE id IN (?, ?)', orgs);
  await service.db.query('DELETE FROM sessions WHERE id = ?', [session]);
  await service.db.query('DELETE FROM events WHERE org_id = ?', [orgId]);
  await service.db.query('DELETE FROM users WHERE id IN (?, ?, ?)', ids);
}

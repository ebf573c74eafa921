import { makeOperator, anOperator, showSecondFactor } from '../support/operators.js';
import { type Account, anAccount, anAccountOf, anOrgOf, anUnknownId, join } from '../support/personas.js';
import { aServiceCaller, aServiceClient, type ServiceCaller } from '../support/services.js';
import type { Service } from '../support/service.js';
import type { Answered, ExampleAnswers } from './example-answers.js';

const OF_ACCOUNTS = [
  'enableUser',
  'endUserSessions',
  'verifyUserEmail',
  'removeUserSecondFactor',
  'issueResetCode',
  'disableUser',
  'deleteUser',
];

/** Gets answered what operators ask, before anybody is there whom the other examples are about. */
export async function collectOperatorAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const by = await anOperator(service);
  const withoutFactor = await anAccount(service);
  await makeOperator(service, withoutFactor);

  for (const id of examples.operationsOf('Operators')) await examples.send(id, { by: withoutFactor });
  for (const id of examples.operationsOf('Operators', true)) {
    await examples.send(id, { by, body: id === 'makeOwner' ? { userId: by.id } : {} });
  }
  for (const id of [...OF_ACCOUNTS, 'makeOwner']) {
    const body = id === 'makeOwner' ? { userId: by.id, reason: 'a test' } : undefined;
    await examples.send(id, { by, path: { userId: by.id }, ...(body && { body }) });
    await examples.send(id, { by, path: { userId: anUnknownId() } });
  }
  await changeAccounts(examples, service, by);
  await changeOrgs(examples, service, by);
  await changeServices(examples, service, by);
  await retryMails(examples, service, by);
}

type Operator = Awaited<ReturnType<typeof anOperator>>;

async function changeAccounts(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  for (const id of ['disableUser', 'deleteUser']) {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    await join(org, owner, await anAccount(service), 'member');
    await examples.send(id, { by, path: { userId: owner.id } });
    await examples.send(id, { by, path: { userId: owner.id }, body: { reason: 'a test', force: true } });
  }
  const user = await anAccount(service);
  for (const id of OF_ACCOUNTS) {
    await examples.send(id, { by, path: { userId: user.id } });
    if (id === 'disableUser') await examples.send('issueResetCode', { by, path: { userId: user.id } });
  }
}

async function changeOrgs(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  const [owner, other, busy] = await Promise.all([
    anAccount(service),
    anAccount(service),
    anAccount(service),
  ]);
  const org = await anOrgOf(owner);
  const path = { orgId: org.id };
  const makeOwner = (userId: string, force = false): Promise<unknown> =>
    examples.send('makeOwner', { by, path, body: { userId, reason: 'a test', force } });
  await makeOwner(other.id);
  await makeOwner(owner.id);
  await anOrgOf(busy);
  await makeOwner(busy.id, true);
  await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [other.id]);
  await makeOwner(other.id);
  await examples.send('makeOwner', { by, body: { userId: owner.id, reason: 'a test' } });

  for (const id of ['deleteOrgAsOperator', 'restoreOrgAsOperator']) {
    await examples.send(id, { by });
    await examples.send(id, { by, path });
  }
  await examples.send('deleteOrgAsOperator', { by, path });
  await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [owner.id]);
  await examples.send('restoreOrgAsOperator', { by, path });
}

async function changeServices(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  const { name } = await aServiceClient(service.db);
  for (const id of ['disableService', 'enableService']) {
    await examples.send(id, { by });
    await examples.send(id, { by, path: { name } });
  }
  await service.db.query('UPDATE services SET disabled_at = 1, removed_at = 1 WHERE name = ?', [name]);
  await examples.send('enableService', { by, path: { name } });
}

async function retryMails(examples: ExampleAnswers, service: Service, by: Operator): Promise<void> {
  const path = { mailId: anUnknownId() };
  await service.db.query(
    `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at, ended_at)
      VALUES (?, 'password_changed', 'nobody@example.com', 'failed', 1, 1, 1)`,
    [path.mailId],
  );
  await examples.send('retryMail', { by });
  await examples.send('retryMail', { by, path });
  await service.db.query("UPDATE mails SET kind = 'email_verification' WHERE id = ?", [path.mailId]);
  await examples.send('retryMail', { by, path });
  await service.db.query("UPDATE mails SET state = 'dropped' WHERE id = ?", [path.mailId]);
  await examples.send('retryMail', { by, path });
}

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
  const session = anUnknownId();
  const insert = (table: string, columns: string, ...rows: string[]) =>
    service.db.query(`INSERT INTO ${table} (${columns}) VALUES ${rows.map((row) => `(${row})`).join()}`);
  const newId = () => `'${anUnknownId()}'`;

  await insert(
    'users',
    'id, email, password_hash, created_at',
    `'${userId}', 'ada@example.com', 'none', 1`,
    `'${graceId}', 'grace@example.com', 'none', 1`,
    `'${zoeId}', 'zoe@example.com', 'none', 1`,
  );
  await insert(
    'sessions',
    'id, user_id, auth_time, created_at, expires_at, ip, user_agent, device_name, amr',
    `'${session}', '${userId}', 1, 1, ${TOMORROW}, '127.0.0.1', 'Analytical Desktop/1.4 (Linux)',
      'Ada''s laptop', 'pwd'`,
  );
  const org = (id: string) => `'${id}', 'Analytical Engines', 2, 1`;
  await insert('orgs', 'id, name, revision, created_at', ...orgs.map(org));
  await insert(
    'members',
    'org_id, user_id, email, role, joined_at',
    `'${orgId}', '${userId}', 'ada@example.com', 'owner', 1`,
    `'${orgs[1]}', '${userId}', 'ada@example.com', 'owner', 2`,
    `'${orgId}', '${graceId}', 'grace@example.com', 'member', 3`,
    `'${orgId}', '${zoeId}', 'zoe@example.com', 'member', 4`,
  );
  const actor = `'user', '${userId}', '${session}', '${orgId}', '127.0.0.1', ${newId()}`;
  await insert(
    'events',
    'id, type, at, actor_type, actor_id, actor_session_id, org_id, ip, request_id, org_revision, user_id, data',
    `${newId()}, 'org.created', 1, ${actor}, 1, NULL, '{}'`,
    `${newId()}, 'member.added', 1, ${actor}, 2, '${graceId}', '{"role":"member","via":"added"}'`,
  );
  const mail = () =>
    `${newId()}, 'password_reset', 'ada@example.com', 'failed', 1, 1, 1, 2, 3, 'EENVELOPE 550'`;
  await insert(
    'mails',
    'id, kind, recipient, state, created_at, next_attempt_at, attempts, expires_at, ended_at, last_error',
    mail(),
    mail(),
  );
  await insert('services', 'name, allow, created_at', `'billing', 'introspect', 1`, `'zeta', '', 1`);
  await insert('service_secrets', 'id, service, hash, created_at', `${newId()}, 'billing', 'none', 1`);

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
  await examples.sendAll(['getUser', 'listUserSessions', 'getAnyOrg', 'getService'], { by: operator, path });
  await examples.sendAll(
    ['getUser', 'listUserSessions', 'listUserOrgs', 'getAnyOrg', 'listAnyMembers', 'getService'],
    { by: operator },
  );

  await service.db.query("DELETE FROM service_secrets WHERE service = 'billing'");
  await service.db.query("DELETE FROM services WHERE name IN ('billing', 'zeta')");
  await service.db.query("DELETE FROM mails WHERE recipient = 'ada@example.com'");
  await service.db.query('DELETE FROM members WHERE org_id IN (?, ?)', orgs);
  await service.db.query('DELETE FROM orgs WHERE id IN (?, ?)', orgs);
  await service.db.query('DELETE FROM sessions WHERE id = ?', [session]);
  await service.db.query('DELETE FROM events WHERE org_id = ?', [orgId]);
  await service.db.query('DELETE FROM users WHERE id IN (?, ?, ?)', [userId, graceId, zoeId]);
}

/** requests of one service that the feed lets wait */
const MAX_WAITING = 20;

/** Gets answered what internal services ask about a user who owns an organization. */
export async function collectServiceAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const katherine = await anAccountOf(service, 'katherine@example.com');
  const org = await anOrgOf(katherine);
  await join(org, katherine, await anAccount(service), 'member');
  const [billing, exchanging] = await Promise.all([
    aServiceCaller(service, 'introspect', 'memberships', 'events'),
    aServiceCaller(service),
  ]);
  const about = { token: katherine.token, orgId: org.id };

  await examples.send('introspectToken', { by: billing, body: about });
  await examples.send('introspectToken', { by: billing, body: {} });
  examples.keep('introspectToken', await billing.sendForm('/api/auth/introspect', 'token=x&token=y'));
  await examples.send('listMemberships', { by: billing, query: `?orgId=${org.id}&limit=1` });
  await examples.send('listMemberships', { by: billing });
  await giveFeedExamples(examples, billing, katherine);
  for (const id of ['introspectToken', 'listMemberships', 'followEvents']) {
    await examples.send(id, { by: exchanging });
    await examples.send(id, { by: service.anyone });
  }
}

async function giveFeedExamples(
  examples: ExampleAnswers,
  billing: ServiceCaller,
  user: Account,
): Promise<void> {
  const { body } = await billing.get<{ next: string }>('/api/events');
  const after = `?after=${body.next}`;
  const waiting = Array.from({ length: MAX_WAITING + 1 }, () =>
    billing.get<Answered>(`/api/events${after}&wait=15`),
  );
  const refused = await Promise.race(waiting);
  examples.keep('followEvents', refused);
  await user.post('/api/auth/login', { email: user.email, password: user.password });
  await Promise.all(waiting);

  await examples.send('followEvents', { by: billing, query: after });
  await examples.send('followEvents', { by: billing, query: '?after=now' });
  await examples.send('followEvents', { by: billing, query: `?after=${anUnknownId()}` });
}

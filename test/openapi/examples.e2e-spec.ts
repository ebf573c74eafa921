import { afterAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accountsJson, BY_ROOT } from '../support/accounts-command.js';
import type { Answer } from '../support/answer.js';
import { times } from '../support/at-once.js';
import type { Caller } from '../support/caller.js';

import { aVerifiedAccount, DAY_MS } from '../support/inviting.js';
import { MailServer, untilMailsAreDecided } from '../support/mail-server.js';
import { insertApiKey } from '../support/api-keys.js';
import { anOperator, makeOperator, showSecondFactor } from '../support/operators.js';
import {
  Account,
  anAccount,
  anAccountOf,
  anEmail,
  anOrgOf,
  anUnknownId,
  aPassword,
  byCode,
  connectionTo,
  join,
  logIn,
} from '../support/personas.js';
import { insertRow, insertRows } from '../support/rows.js';
import {
  aChallenge,
  appCode,
  challengeFor,
  forgetSteps,
  protect,
  unprotect,
} from '../support/second-factor.js';
import { startService } from '../support/service.js';
import { addProvider, aSubject, emailAt, insertConfirmed } from '../support/at-providers.js';
import { TestProvider } from '../support/provider.js';
import { RangeServer } from '../support/range-server.js';
import {
  aBoundToken,
  aCallToken,
  aServiceCaller,
  aServiceClient,
  type ServiceClient,
  basic,
  type ServiceCaller,
  setCall,
  tokenRequest,
} from '../support/services.js';
import { type DocumentedResponse, DocumentReader } from './documented.js';

/** Faults of the service and its database: what a request cannot bring about. */
const FAULTS = new Set(['internal_error', 'unavailable', 'storage_full']);

/** What differs from one installation and one moment to the next. */
const FORMS: [name: string, form: RegExp][] = [
  ['a UUID', /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/],
  ['a JWT', /^[\w-]+\.[\w-]+\.[\w-]+$/],
  ['a challenge', /^[\da-f-]{36}(\.\d+){3}\.[\w-]{43}$/],
  ['a code or key', /^[\w-]{43}$/],
  ['an API key', /^ack_[0-9A-Za-z]{49}$/],
  ['a secret of an app', /^[A-Z2-7]{32}$/],
  [
    'a key URI',
    /^otpauth:\/\/totp\/accounts:[\w.%-]+\?secret=[A-Z2-7]{32}&issuer=accounts&algorithm=SHA1&digits=6&period=30$/,
  ],
  ['a recovery code', /^(?:[0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{6}$/],
  ['a typed code', /^[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$/],
  ['the email of a user', /^(?:ada|someone-[\da-f]{12})@example\.com$/],
  ['a time', /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/],
  ['an engine', /^(?:sqlite|mariadb|mysql)$/],
  ['an address', /^[\d.]{7,15}$/],
  ['a network', /^[\d.]{7,15}\/24$/],
  ['a cursor', /^[\w-]{50,}$/],
];

/** Values without a form of their own, by their names. */
const ALWAYS_NEW = new Map([
  ['authorizationUrl', 'a URL of the provider'],
  ...['kid', 'migration', 'version'].map((name) => [name, 'any text'] as const),
  ...['iat', 'exp', 'auth_time'].map((name) => [name, 'a time'] as const),
  ['sessionsEnded', 'a number'] as const,
]);

type Path = typeof usual;

interface Request {
  by: Caller;
  /** that of the example, if it is not given */
  body?: unknown;
  path?: Partial<Path>;
  query?: string;
}

interface Answered {
  token: string;
  code: string;
  refreshToken: string;
  secret: string;
  user: { id: string };
  org: { id: string };
  sessions: { id: string }[];
  apiKey: { id: string };
  invitation: { id: string; code: string };
}

const FORM = 'application/x-www-form-urlencoded';
const MOST_WRITES = 50;
/** More than any other limit admits by default. */
const MOST_ADMITTED = 20;

const mailServer = await MailServer.start();
const ranges = new RangeServer();
const PWNED_PASSWORDS = await ranges.start();
const service = await startService({
  env: { MAX_ORGS_PER_USER: '1', RATE_LIMIT_LOOKUP: '1/1h', PWNED_PASSWORDS, ...mailServer.env },
});
const withoutMail = await startService({
  env: {
    RATE_LIMIT_WRITES: `${MOST_WRITES}/1h`,
    CODE_AUDIENCE: 'required',
    JWT_ISSUER: 'https://accounts.example.com',
    RATE_LIMIT_PROVIDER: `${MOST_ADMITTED - 5}/15m`,
  },
});
const closed = await startService({
  env: {
    ...mailServer.env,
    REGISTRATION: 'closed',
    REGISTRATION_DOMAINS: 'example.com',
    EMAIL_VERIFICATION: 'required',
  },
});
afterAll(async () => {
  await service.stop();
  await withoutMail.stop();
  await closed.stop();
  await mailServer.stop();
  ranges.stop();
});
const { db } = service;
const anyone = service.anyone.with({ 'user-agent': 'Analytical Desktop/1.4 (Linux)' });
const reader = await DocumentReader.of(service);
const answers = new Map<string, Answer<Answered>>();
/** Nothing that is there, at first. */
const usual = {
  orgId: anUnknownId(),
  userId: anUnknownId(),
  sessionId: anUnknownId(),
  invitationId: anUnknownId(),
  mailId: anUnknownId(),
  keyId: anUnknownId(),
  /** of a service */
  name: 'nobody',
  to: 'nobody',
};

const operationOf = (id: string) => reader.operations.find(({ operationId }) => operationId === id)!;
const exampleOf = (id: string, name?: string) =>
  reader.requestExampleOf(operationOf(id), name) as Record<string, unknown> | undefined;

function keep(id: string, answer: Answer<Answered>): Answered {
  const name = `${id} ${answer.status < 400 ? answer.status : answer.body.code}`;
  if (!answers.has(name)) answers.set(name, answer);
  return answer.body;
}

/** Sends the same to several operations, one after the other. Returns what the last one answered. */
async function send(ids: string, { by, body, path, query = '' }: Request): Promise<Answered> {
  let answered: Answered | undefined;
  for (const id of ids.split(' ')) {
    const { method, requestBody, ...operation } = operationOf(id);
    const at = operation.path.replace(/\{(\w+)\}/g, (_, name: keyof Path) => path?.[name] ?? usual[name]);
    const sent = body ?? exampleOf(id);
    const answer =
      FORM in (requestBody?.content ?? {})
        ? by.send<Answered>(method, at + query, {
            headers: { 'content-type': FORM },
            body: new URLSearchParams(sent as Record<string, string>).toString(),
          })
        : by.sendJson<Answered>(method, at + query, sent);
    answered = keep(id, await answer);
  }
  return answered!;
}

async function sendText(id: string, by: Caller, type: string, body: string): Promise<void> {
  const { method, path } = operationOf(id);
  const at = path.replace(/\{(\w+)\}/g, (_, name: keyof Path) => usual[name]);
  keep(id, await by.send(method, at, { headers: { 'content-type': type }, body }));
}

async function sendUntilRefused(id: string, request: Request): Promise<void> {
  for (let requests = 0; !answers.has(`${id} rate_limited`); requests += 1) {
    if (requests > MOST_ADMITTED) throw new Error(`${id} was not refused after ${requests} requests`);
    await send(id, request);
  }
}

const disable = (id: string) => db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [id]);

/** What operators look up, about rows that are deleted again: nobody else must be there. */
async function lookUp(): Promise<void> {
  // Enrolling would mail a notice, and the status counts what waits.
  const by = await anAccount(service);
  await makeOperator(service, by);
  await showSecondFactor(service, by);
  await send('adminGetStatus', { by });

  const [userId, graceId, zoeId, sessionId] = times(4, anUnknownId) as [string, string, string, string];
  const orgs = times(2, anUnknownId).toSorted();
  const orgId = orgs[0]!;
  const [ada, grace, zoe] = ['ada@example.com', 'grace@example.com', 'zoe@example.com'];
  await insertRows(db, 'users', [
    { id: userId, email: ada, name: 'Ada Lovelace', locale: 'en-GB' },
    { id: graceId, email: grace, name: null, locale: null },
    { id: zoeId, email: zoe, name: null, locale: null },
  ]);
  const client = { ip: '127.0.0.1', user_agent: 'Analytical Desktop/1.4 (Linux)', amr: 'pwd' };
  const session = { id: sessionId, user_id: userId, device_name: "Ada's laptop", ...client };
  await insertRow(db, 'sessions', { ...session, expires_at: Date.now() + DAY_MS });
  const ids = orgs.map((id) => ({ id }));
  await insertRows(db, 'orgs', ids, { name: 'Analytical Engines', revision: 2 });
  await insertRows(db, 'members', [
    { org_id: orgId, user_id: userId, email: ada, role: 'owner', joined_at: 1 },
    { org_id: orgs[1]!, user_id: userId, email: ada, role: 'owner', joined_at: 2 },
    { org_id: orgId, user_id: graceId, email: grace, role: 'member', joined_at: 3 },
    { org_id: orgId, user_id: zoeId, email: zoe, role: 'member', joined_at: 4 },
  ]);
  const added = '{"role":"member","via":"added"}';
  await insertRows(
    db,
    'events',
    [
      { id: anUnknownId(), type: 'org.created', org_revision: 1, user_id: null, data: '{}' },
      { id: anUnknownId(), type: 'member.added', org_revision: 2, user_id: graceId, data: added },
    ],
    {
      at: 1,
      actor_type: 'user',
      actor_id: userId,
      actor_session_id: sessionId,
      org_id: orgId,
      ip: '127.0.0.1',
      request_id: anUnknownId(),
    },
  );
  const mail = { kind: 'password_reset', recipient: ada, state: 'failed', last_error: 'EENVELOPE 550' };
  const mails = times(2, () => ({ id: anUnknownId() }));
  const mailTimes = { created_at: 1, next_attempt_at: 1, attempts: 1, expires_at: 2, ended_at: 3 };
  await insertRows(db, 'mails', mails, { ...mail, ...mailTimes });
  await insertRows(db, 'services', [
    { name: 'billing', allow: 'introspect', created_at: 1 },
    { name: 'zeta', allow: '', created_at: 1 },
  ]);
  const secret = { id: anUnknownId(), service: 'billing', hash: 'none', created_at: 1 };
  await insertRow(db, 'service_secrets', secret);

  const trace = { user_id: userId, last_login_at: 1, failures: 3, failed_at: 2, failed_ip: '127.0.0.1' };
  await insertRow(db, 'login_traces', trace);

  await insertRow(db, 'services', { name: 'ledger', allow: '', created_at: 1 });
  await insertRow(db, 'service_calls', { caller: 'billing', callee: 'ledger', allowed_at: 1 });

  const keys = times(2, (index) => ({ id: anUnknownId(), hash: `none ${index}` }));
  const key = { user_id: userId, audience: 'billing', role: 'member', name: 'nightly export' };
  await insertRows(db, 'api_keys', keys, { ...key, created_at: 1, expires_at: Date.now() + DAY_MS });

  const allow = (scope: string) => db.query("UPDATE services SET allow = ? WHERE name = 'billing'", [scope]);
  await allow('keys');
  for (const query of ['?limit=1', '?limit=0']) await send('adminListApiKeys', { by, query });
  await allow('introspect');

  const path = { userId, orgId, name: 'billing' };
  for (const query of ['?limit=1', '?limit=0'])
    await send('adminListUsers adminListUserOrgs adminListOrgs adminListEmails adminListServices', {
      by,
      path,
      query,
    });
  for (const query of ['?limit=2', '?limit=0']) await send('adminListOrgMembers', { by, path, query });
  for (const query of [`?orgId=${orgId}&limit=1`, '?limit=0'])
    await send('adminListAuditEvents', { by, path, query });
  await send('adminGetUser adminListUserSessions adminGetOrg adminGetService', { by, path });
  await send('adminGetUser', { by, path, query: '?include=all' });
  await send(
    'adminGetUser adminListUserSessions adminListUserOrgs adminGetOrg adminListOrgMembers adminGetService',
    { by },
  );

  for (const table of [
    'login_traces',
    'service_calls',
    'service_secrets',
    'api_keys',
    'services',
    'mails',
    'members',
    'orgs',
    'events',
  ])
    await db.query(`DELETE FROM ${table}`);
  await db.query('DELETE FROM sessions WHERE id = ?', [sessionId]);
  await db.query('DELETE FROM users WHERE id IN (?, ?, ?)', [userId, graceId, zoeId]);
}

async function askAsServices(): Promise<void> {
  const katherine = await anAccountOf(service, 'katherine@example.com');
  const org = await anOrgOf(katherine);
  await join(org, katherine, await anAccount(service), 'member');
  const billing = await aServiceCaller(service, 'introspect', 'memberships', 'events', 'directory');
  const exchanging = await aServiceCaller(service);
  await katherine.patch('/api/me/profile', { name: 'Katherine Johnson' });

  await send('introspectToken', { by: billing, body: { token: katherine.token, orgId: org.id } });
  await send('introspectToken', { by: billing, body: {} });
  keep('introspectToken', await billing.sendForm('/api/auth/introspect', 'token=x&token=y'));
  await getServiceTokens(billing, exchanging);
  await send('listMemberships', { by: billing, query: `?orgId=${org.id}&limit=1` });
  await send('listMemberships', { by: billing });
  const directory = await aServiceCaller(service, 'directory', 'directory:all');
  await send('listDirectoryUsers', { by: billing, query: `?id=${katherine.id}` });
  await send('listDirectoryOrgs', { by: billing, query: `?id=${org.id}` });
  await anOrgOf(await anAccount(service), 'Another');
  await send('listDirectoryOrgs', { by: directory, query: '?limit=1' });
  await send('listDirectoryUsers listDirectoryOrgs', { by: billing, query: '?id=x' });
  await send('listDirectoryOrgs', { by: directory, query: '?limit=x' });

  const after = `?after=${(await billing.get<{ next: string }>('/api/events')).body.next}`;
  const waiting = times(21, () => billing.get<Answered>(`/api/events${after}&wait=15`));
  keep('listEvents', await Promise.race(waiting));
  const { email, password } = katherine;
  await service.anyone.post('/api/auth/login', { email, password });
  await Promise.all(waiting);
  for (const query of [after, '?after=now', `?after=${anUnknownId()}`])
    await send('listEvents', { by: billing, query });
  for (const by of [exchanging, anyone])
    await send('introspectToken listMemberships listEvents listDirectoryUsers listDirectoryOrgs', { by });
}

async function getServiceTokens(billing: ServiceCaller, ledger: ServiceCaller): Promise<void> {
  const id = 'issueServiceToken';
  const own = tokenRequest(ledger.name);
  await send(id, { by: billing, body: tokenRequest(ledger.name, 'x') });
  await send(id, { by: billing, body: own });
  await setCall(service.db, billing, ledger);
  const handedOn = await aCallToken(billing, ledger, await aBoundToken(billing, await anAccount(service)));
  await send('logOut', { by: anyone.withToken(handedOn), body: {} });
  await send(id, { by: billing, body: own });
  await send(id, { by: billing, body: { ...own, audience: '' } });
  await send(id, { by: billing, body: {} });
  await send(id, { by: anyone, body: own });
  keep(id, await billing.sendForm('/api/auth/token', 'audience=x&audience=y'));
}

const OF_ACCOUNTS =
  'adminEnableUser adminUnblockUser adminRevokeUserSessions adminVerifyUserEmail adminRemoveUserSecondFactor adminIssueResetCode adminDisableUser adminDeleteUser';

async function operate(): Promise<void> {
  const by = await anOperator(service);
  const withoutFactor = await anAccount(service);
  await makeOperator(service, withoutFactor);
  const ofOperators = reader.operations.filter(({ operationId }) => operationId.startsWith('admin'));
  await send(ofOperators.map(({ operationId }) => operationId).join(' '), { by: withoutFactor });
  for (const { operationId: id, method } of ofOperators)
    if (method !== 'GET') await send(id, { by, body: id === 'adminAddOrgOwner' ? { userId: by.id } : {} });
  const self = { userId: by.id, reason: 'a test' };
  for (const path of [{ userId: by.id }, { userId: anUnknownId() }]) await send(OF_ACCOUNTS, { by, path });
  await send('adminAddOrgOwner', { by, path: { userId: by.id }, body: self });
  await send('adminAddOrgOwner', { by });

  for (const id of ['adminDisableUser', 'adminDeleteUser']) {
    const owner = await anAccount(service);
    const org = await anOrgOf(owner);
    await join(org, owner, await anAccount(service), 'member');
    await send(id, { by, path: { userId: owner.id } });
    await send(id, { by, path: { userId: owner.id }, body: { reason: 'a test', force: true } });
  }
  const user = { userId: (await anAccount(service)).id };
  for (const id of OF_ACCOUNTS.split(' ')) {
    await send(id, { by, path: user });
    if (id === 'adminDisableUser') await send('adminIssueResetCode', { by, path: user });
  }
  await operateOnOrgs(by);
  await createUsers(by);

  const { name } = await aServiceClient(db);
  for (const id of ['adminDisableService', 'adminEnableService']) {
    await send(id, { by });
    await send(id, { by, path: { name } });
  }
  await insertRow(db, 'providers', { id: anUnknownId(), name });
  for (const id of ['adminDisableProvider', 'adminEnableProvider']) {
    await send(id, { by });
    await send(id, { by, path: { name } });
  }
  const { name: to } = await aServiceClient(db);
  for (const [path, body] of [
    [{ name }, { to }],
    [{ name }, { to: '' }],
    [{ name }, { to: 'nobody' }],
  ])
    await send('adminAllowCall', { by, path, body: { reason: 'a test', ...body } });
  await send('adminRevokeCall', { by });
  await send('adminRevokeCall', { by, path: { name, to } });
  await send('adminRevokeApiKey', { by });
  for (const one of [by, await anAccount(service)])
    await send('adminRevokeApiKey', { by, path: { keyId: (await insertApiKey(service, one, { name })).id } });
  await db.query('UPDATE services SET disabled_at = 1, removed_at = 1 WHERE name = ?', [name]);
  await send('adminAllowCall', { by, path: { name }, body: { reason: 'a test', to } });
  await send('adminEnableService', { by, path: { name } });

  const mailId = anUnknownId();
  const mail = { kind: 'password_changed', recipient: 'nobody@example.com', state: 'failed' };
  await insertRow(db, 'mails', { id: mailId, ...mail, created_at: 1, next_attempt_at: 1, ended_at: 1 });
  await send('adminRetryEmail', { by });
  await send('adminRetryEmail', { by, path: { mailId } });
  // The worker sends the email that was retried.
  await untilMailsAreDecided(service);
  for (const change of ["kind = 'email_verification', state = 'failed'", "state = 'dropped'"]) {
    await db.query(`UPDATE mails SET ${change} WHERE id = ?`, [mailId]);
    await send('adminRetryEmail', { by, path: { mailId } });
  }
}

/** By an installation without a mail server, which shows the code. */
async function createUsers(by: Caller): Promise<void> {
  const operator = await anAccount(withoutMail);
  await makeOperator(withoutMail, operator);
  await showSecondFactor(withoutMail, operator);
  await send('adminCreateUser', { by: operator });
  await send('adminCreateUser adminCreateUser', { by, body: { email: anEmail('twice'), reason: 'a test' } });
}

/** A user whom an operator created, with a code that proves no email. */
async function anUnverifiedUser(): Promise<Account> {
  const [email, newPassword] = [anEmail(), aPassword()];
  const command = ['users', 'create', email, ...BY_ROOT];
  const [created] = await accountsJson<{ code: string }>(closed.installation, command);
  const reset = { email, code: created!.code, newPassword };
  expect((await closed.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
  const { token, user } = (await logIn(closed, { email, password: newPassword })).body;
  return new Account(connectionTo(closed), token, user.id, email, newPassword);
}

async function failWhileClosed(): Promise<void> {
  const by = await anUnverifiedUser();
  const { password } = by;
  await send('register', { by: closed.anyone });
  await send('requestEmailChange', { by, body: { email: 'ada@evil.example', password } });
  const email = anEmail('new');
  expect((await by.put('/api/me/email', { email, password })).status).toBe(202);
  const { code } = await mailServer.next(email);
  await closed.db.query("UPDATE email_codes SET email = 'ada@evil.example' WHERE subject = ?", [by.id]);
  await send('verifyEmail', { by, body: { code } });
  for (const [id, problem] of failures())
    if (problem === 'email_not_verified' && !answers.has(`${id} ${problem}`)) await send(id, { by });
}

async function operateOnOrgs(by: Account): Promise<void> {
  const [owner, other, busy] = await Promise.all([
    anAccount(service),
    anAccount(service),
    anAccount(service),
  ]);
  const path = { orgId: (await anOrgOf(owner)).id };
  const makeOwner = (userId: string, force = false) =>
    send('adminAddOrgOwner', { by, path, body: { userId, reason: 'a test', force } });
  await makeOwner(other.id);
  await makeOwner(owner.id);
  await anOrgOf(busy);
  await makeOwner(busy.id, true);
  await disable(other.id);
  await makeOwner(other.id);
  await send('adminAddOrgOwner', { by, body: { userId: owner.id, reason: 'a test' } });
  await operateOnMembers(by);
  for (const id of ['adminLiftOrgSecondFactor', 'adminDeleteOrg', 'adminRestoreOrg']) {
    await send(id, { by });
    await send(id, { by, path });
  }
  await send('adminDeleteOrg', { by, path });
  await disable(owner.id);
  await send('adminRestoreOrg', { by, path });
}

async function operateOnMembers(by: Account): Promise<void> {
  const [owner, member, other] = await Promise.all([
    anAccount(service),
    anAccount(service),
    anAccount(service),
  ]);
  const org = await anOrgOf(owner);
  await join(org, owner, member, 'member');
  await disable(member.id);
  const ids = 'adminSetOrgMemberRole adminRemoveOrgMember';
  for (const userId of [by.id, anUnknownId(), owner.id]) await send(ids, { by, path: { userId } });
  const path = { orgId: org.id, userId: member.id };
  await send('adminSetOrgMemberRole', { by, path, body: { reason: 'a test', role: 'owner' } });
  for (const { id: userId } of [other, owner, member]) await send(ids, { by, path: { ...path, userId } });
}

/** What goes by mail, and what does not where there is no mail server. */
async function sendMails(): Promise<void> {
  const [reset, verified, moving] = [
    await anAccount(service, 'resetPassword'),
    await anAccount(service, 'verified'),
    await anAccount(service, 'moving'),
  ];
  await send('requestPasswordReset', { by: anyone, body: { email: reset.email } });
  const { code } = await mailServer.next(reset.email);
  const breached = { email: reset.email, code, newPassword: ranges.breach() };
  await send('resetPassword', { by: anyone, body: breached });
  await send('resetPassword resetPassword', {
    by: anyone,
    body: { email: reset.email, code, newPassword: aPassword() },
  });

  await send('requestEmailVerification', { by: verified });
  const verification = { code: (await mailServer.next(verified.email)).code };
  await send('verifyEmail verifyEmail', { by: verified, body: verification });
  await send('requestEmailVerification', { by: verified });

  const email = anEmail('new');
  for (const password of [moving.password, 'not the password'])
    await send('requestEmailChange', { by: moving, body: { email, password } });
  const change = { code: (await mailServer.next(email)).code };
  await anAccountOf(service, email);
  await send('verifyEmail', { by: moving, body: change });
  await send('requestEmailVerification verifyEmail requestEmailChange', {
    by: await byCode(service, moving),
  });

  const alone = await anAccount(withoutMail);
  const body = { email: anEmail(), password: alone.password };
  await send('requestPasswordReset', { by: withoutMail.anyone, body });
  await send('requestEmailVerification', { by: alone });
  await send('requestEmailChange', { by: alone, body });

  const by = await anAccount(service);
  const wrong = { code: '0000000000' };
  await sendUntilRefused('requestPasswordReset', { by, body: { email: by.email } });
  await sendUntilRefused('requestEmailVerification', { by });
  await sendUntilRefused('resetPassword', {
    by,
    body: { email: by.email, ...wrong, newPassword: aPassword() },
  });
  await sendUntilRefused('verifyEmail', { by, body: wrong });
  await sendUntilRefused('requestEmailChange', {
    by,
    body: { email: anEmail(), password: 'not the password' },
  });
}

async function leadOrgs(): Promise<void> {
  const [owner, member] = [await anAccount(service, 'owner'), await anAccount(service, 'member')];
  const org = await anOrgOf(owner);
  await join(org, owner, member, 'member');
  const path = { orgId: org.id };
  const derived = await byCode(service, owner);

  // Without a second factor first; then the member is the one who lacks it.
  const body = exampleOf('updateOrg', 'requirement');
  await send('updateOrg', { by: owner, path, body });
  await send('leaveOrg', { by: owner, path });
  await protect(service, owner);
  await send('updateOrg', { by: owner, path, body });
  await send('updateOrg', { by: derived, path, body });
  await owner.patch(`/api/orgs/${org.id}`, { secondFactorRequiredFrom: null });
  await send('transferOrg deleteOrg restoreOrg leaveOrg', { by: derived, path });
  await send('changeMemberRole removeMember', { by: derived, path: { ...path, userId: owner.id } });
  await send('transferOrg deleteOrg', { by: member, path });
  await disable(member.id);
  await send('transferOrg', { by: owner, path, body: { userId: member.id } });
  const ofMember = { ...path, userId: member.id };
  await send('changeMemberRole', { by: owner, path: ofMember, body: { role: 'owner' } });
  await db.query('UPDATE users SET disabled_at = NULL WHERE id = ?', [member.id]);
  await send('deleteOrg restoreOrg restoreOrg', { by: owner, path });
  await send('transferOrg', { by: owner, path, body: { userId: member.id } });
  await send('leaveOrg', { by: owner, path });

  // Of two, so that there is a next page.
  const by = await anAccount(service);
  await anOrgOf(by);
  const second = anUnknownId();
  await insertRow(db, 'orgs', { id: second, name: 'Analytical Engines' });
  const membership = { org_id: second, user_id: by.id, email: by.email, role: 'owner' };
  await insertRow(db, 'members', { ...membership, joined_at: 1_700_000_000_000 });
  await send('listOrgs', { by, query: '?limit=1' });
  for (const { id } of (await by.get<{ orgs: { id: string }[] }>('/api/me/orgs')).body.orgs)
    await by.delete(`/api/orgs/${id}`);
  await send('listDeletedOrgs', { by, query: '?limit=1' });
  await send('listOrgs listDeletedOrgs', { by, query: '?limit=0' });
}

/** Spread over several accounts, since each request counts as a login of its account. */
async function useSecondFactors(): Promise<void> {
  const changes = 'renewRecoveryCodes removeSecondFactor';
  const writes = `enrollSecondFactor confirmSecondFactor ${changes}`;
  const by = await aVerifiedAccount(service, 'protected');
  const { password } = by;
  await send(writes, { by: await byCode(service, by) });
  const { secret } = await send('enrollSecondFactor', { by, body: { password } });
  const code = appCode(secret);
  await send('confirmSecondFactor', { by, body: { code } });
  await send('getSecondFactor', { by });
  await send('enrollSecondFactor', { by, body: { password } });
  await send('confirmSecondFactor', { by, body: { code } });
  for (const id of changes.split(' ')) {
    // The code was used.
    await send(id, { by, body: { password, code } });
    await forgetSteps(service, by);
    await send(id, { by, body: { password, code } });
  }

  await send('confirmSecondFactor', { by: await anAccount(service, 'unverified'), body: { code } });
  const other = await aVerifiedAccount(service, 'unprotected');
  const wrong = { password: 'not the password', code };
  await send(`enrollSecondFactor ${changes}`, { by: other, body: wrong });
  await send('confirmSecondFactor', { by: other, body: { code } });
  await send(changes, { by: other, body: { password: other.password, code } });

  const withoutPassword = await anAccount(service);
  await db.query("UPDATE users SET password_hash = '!' WHERE id = ?", [withoutPassword.id]);
  await send('changePassword', { by: withoutPassword, body: { newPassword: aPassword() } });
  await send('requestEmailChange', { by: withoutPassword, body: { email: anEmail() } });
  await send(`enrollSecondFactor deleteAccount ${changes}`, { by: withoutPassword, body: { code } });

  const busy = await anAccount(service, 'busy');
  await send(writes, { by: busy, body: {} });
  for (let count = 0; count < 4; count += 1)
    await send(writes, { by: busy, body: { password: 'not the password', code: '000000' } });
}

const STEP = 'completeLogin';

/** @param adaId of the account whose email the examples have; it has no second factor afterwards */
async function logInWithSecondFactors(adaId: string): Promise<void> {
  const by = await anAccount(service);
  const breached = { currentPassword: by.password, newPassword: ranges.breach() };
  await send('changePassword', { by, body: breached });
  const { app } = await protect(service, by);
  const { email, password } = by;
  await send('login', { by: anyone, body: { email, password } });
  await send(STEP, { by: anyone });
  const challengeOfUser = await aChallenge(service, by);
  // Each code with the right password: one that was used, and a wrong one.
  await db.query('UPDATE second_factors SET last_step = 2147483647 WHERE user_id = ?', [by.id]);
  for (const code of [app.at(), app.wrong()]) {
    await send('deleteAccount', { by, body: { password, code } });
    await send('requestEmailChange', { by, body: { email: 'ada.lovelace@example.com', password, code } });
    const change = { currentPassword: password, newPassword: aPassword(), code };
    await send('changePassword', { by, body: change });
    await send(STEP, { by: anyone, body: { challenge: challengeOfUser, code } });
  }
  const body = { challenge: challengeOfUser, code: app.wrong() };
  for (let attempt = 0; attempt < 10; attempt += 1) await send(STEP, { by: anyone, body });
  await unprotect(service, by);

  const { recoveryCodes } = await protect(service, { id: adaId });
  // Her logins are counted.
  const challenge = await challengeFor(service, adaId);
  await send(STEP, { by: anyone, body: { challenge, code: recoveryCodes[0] } });
  await unprotect(service, { id: adaId });
}

/** Ada and her organization, of which Grace is a member. */
interface Founders {
  adaId: string;
  ada: Caller;
  grace: Caller;
}

async function signIn(): Promise<Founders> {
  await send('register', { by: anyone, body: { email: anEmail(), password: ranges.breach() } });
  const names = { name: 'Ada Lovelace', locale: 'en-GB', deviceName: "Ada's laptop" };
  const registration = { ...exampleOf('register'), ...names };
  const { token, user } = await send('register', { by: anyone, body: registration });
  const ada = anyone.withToken(token);
  const traced = 'SELECT last_login_at FROM login_traces WHERE user_id = ?';
  await waitFor(
    'the login is noted',
    hangTimeoutMs(),
    async () => (await db.query(traced, [user.id])).length > 0,
  );
  await send('exportData', { by: ada });
  // Its first example changes nothing.
  const profile = { name: 'Ada Lovelace', avatarUrl: 'https://example.com/ada.png', locale: 'en-GB' };
  await send('updateProfile', { by: ada, body: profile });
  await send('getProfile', { by: ada });
  await send('login', { by: anyone });
  const other = { email: anEmail(), password: aPassword(), refresh: true };
  const { refreshToken } = (await anyone.post<Answered>('/api/auth/register', other)).body;
  await send('refresh', { by: anyone, body: { refreshToken } });
  await send('refresh', { by: anyone });
  await send('listAuditEvents', { by: ada, query: '?limit=1' });
  const grace = { email: 'grace@example.com', password: aPassword() };
  const { body } = await anyone.post<Answered>('/api/auth/register', grace);
  usual.userId = body.user.id;
  return { adaId: user.id, ada, grace: anyone.withToken(body.token) };
}

async function passLoginOn(ada: Caller): Promise<void> {
  const { code } = await send('issueCode', { by: ada });
  const body = { ...exampleOf('exchangeCode'), code };
  const { token } = await send('exchangeCode', { by: anyone, body });
  await send('listAuditEvents exportData', { by: anyone.withToken(token) });
  await send('exchangeCode', { by: anyone, body });
}

const GRACE = { email: 'grace@example.com', role: 'member', showCode: true };

async function invite(orgId: string, by: Caller, email: string): Promise<{ id: string; code: string }> {
  const invitation = { email, role: 'member', showCode: true };
  const { status, text, body } = await by.post<Answered>(`/api/orgs/${orgId}/invitations`, invitation);
  expect(status, text).toBe(201);
  return body.invitation;
}

/** Grace belongs to no organization, before and afterwards. */
async function inviteAndAnswer(founders: Founders): Promise<void> {
  const { orgId, userId } = usual;
  await db.query('UPDATE users SET email_verified_at = 1 WHERE id = ?', [userId]);
  await answerInvitations(founders, await inviteAndResend(founders));
  await answerByCode(founders);
  await reachLimitsOfInvitations(founders.ada);

  const alone = await anAccount(withoutMail);
  const path = { orgId: (await anOrgOf(alone)).id, invitationId: anUnknownId() };
  await send('createInvitation', { by: alone, path, body: { email: anEmail(), role: 'member' } });
  await send('resendInvitation', { by: alone, path, body: {} });
  await db.query('DELETE FROM members WHERE org_id = ? AND user_id = ?', [orgId, userId]);
  await db.query('DELETE FROM invitations');
  await db.query('DELETE FROM events WHERE org_id = ? AND org_revision > 1', [orgId]);
  await db.query('UPDATE orgs SET revision = 1 WHERE id = ?', [orgId]);
}

async function inviteAndResend({ ada, grace }: Founders): Promise<string> {
  const other = await anAccount(service, 'other');
  await other.post(`/api/orgs/${(await anOrgOf(other)).id}/invitations`, GRACE);
  await invite(usual.orgId, ada, anEmail());
  const invitationId = (await send('createInvitation', { by: ada })).invitation.id;
  const path = { invitationId };
  await send('createInvitation', { by: ada });
  for (const query of ['?limit=1', '?limit=0']) {
    await send('listInvitations', { by: ada, query });
    await send('listReceivedInvitations', { by: grace, query });
  }
  await send('resendInvitation', { by: ada, path });
  await send('resendInvitation', { by: ada, path, body: { showCode: 1 } });
  await send('resendInvitation revokeInvitation acceptInvitation declineInvitation', {
    by: ada,
    path: { invitationId: anUnknownId() },
  });
  return invitationId;
}

async function answerInvitations({ ada, grace }: Founders, invitationId: string): Promise<void> {
  const path = { invitationId };
  const to = async (email: string) => ({ invitationId: (await invite(usual.orgId, ada, email)).id });
  const [busy, unverified] = [await aVerifiedAccount(service, 'busy'), await anAccount(service)];
  await anOrgOf(busy);
  const derived = await byCode(service, busy);
  const toUnverified = await to(unverified.email);
  for (const id of ['acceptInvitation', 'declineInvitation']) {
    await send(id, { by: derived, path });
    await send(id, { by: grace, path, body: { code: 0 } });
    await send(id, { by: unverified, path: toUnverified, body: {} });
    await send(id, { by: unverified, path: toUnverified });
  }
  await send('acceptInvitation', { by: busy, path: await to(busy.email) });
  await send('acceptInvitation acceptInvitation declineInvitation', { by: grace, path });
  await send('createInvitation', { by: ada });
  const membership = { org_id: usual.orgId, user_id: unverified.id, email: unverified.email };
  await insertRow(db, 'members', membership);
  await send('resendInvitation', { by: ada, path: toUnverified });
  await db.query('DELETE FROM members WHERE user_id = ?', [unverified.id]);

  const declining = await aVerifiedAccount(service);
  await send('declineInvitation acceptInvitation', { by: declining, path: await to(declining.email) });
  await send('revokeInvitation revokeInvitation resendInvitation', { by: ada, path: await to(anEmail()) });
  const registration = { email: anEmail(), password: aPassword(), invitationCode: '00000-00000' };
  await send('register', { by: anyone, body: registration });
}

/** By a guest who joins and is removed again. */
async function answerByCode({ ada, adaId }: Founders): Promise<void> {
  const [guest, busy, guesser] = [
    await anAccount(service, 'guest'),
    await anAccount(service, 'busy'),
    await anAccount(service, 'guesser'),
  ];
  await anOrgOf(busy);
  const codeFor = async ({ email }: Account) => ({ code: (await invite(usual.orgId, ada, email)).code });
  const derived = await byCode(service, guest);
  const body = await codeFor(guest);
  for (const id of ['acceptInvitationByCode', 'declineInvitationByCode']) {
    await send(id, { by: derived });
    await send(id, { by: guest });
    await db.query('UPDATE invitations SET invited_by = id WHERE email = ?', [guest.email]);
    await send(id, { by: guest, body });
    await db.query('UPDATE invitations SET invited_by = ? WHERE email = ?', [adaId, guest.email]);
  }
  await insertRow(db, 'members', { org_id: usual.orgId, user_id: guest.id, email: guest.email });
  for (let time = 0; time < 2; time += 1) {
    await send('acceptInvitationByCode', { by: guest, body });
    await db.query('DELETE FROM members WHERE user_id = ?', [guest.id]);
  }
  await send('declineInvitationByCode', { by: guest, body: await codeFor(guest) });
  await send('acceptInvitationByCode', { by: busy, body: await codeFor(busy) });
  for (let tries = 0; tries <= 10; tries += 1) await send('acceptInvitationByCode', { by: guesser });
  await send('declineInvitationByCode', { by: guesser });
}

async function reachLimitsOfInvitations(by: Caller): Promise<void> {
  const { orgId } = usual;
  const email = anEmail();
  const now = Date.now();
  const fill = async (count: number, status: string, to?: string): Promise<string> => {
    const ids = times(count, anUnknownId);
    const [pending, endedAt] = status === 'pending' ? [1, null] : [null, now];
    const shared = { org_id: orgId, status, pending, code_shown: 1, invited_by: orgId, ended_at: endedAt };
    const life = { created_at: now, expires_at: now + DAY_MS };
    const rows = ids.map((id) => ({ id, email: to ?? `${id}@example.com` }));
    await insertRows(db, 'invitations', rows, { ...shared, ...life });
    return ids[0]!;
  };
  const path = { invitationId: await fill(1, 'expired', email) };
  const pending = await fill(1, 'pending', email);
  await send('resendInvitation', { by, path });
  // As if there had been invitations all day.
  const mails = times(100, () => ({ id: anUnknownId() }));
  const sent = { kind: 'invitation', recipient: 'x@example.com', org_id: orgId, state: 'sent' };
  await insertRows(db, 'mails', mails, { ...sent, created_at: 1, next_attempt_at: 1 });
  await send('resendInvitation', { by, path: { invitationId: pending }, body: {} });
  await db.query('DELETE FROM invitations WHERE id = ?', [pending]);
  await send('createInvitation', { by, body: { email, role: 'member' } });
  await fill(1000, 'pending');
  await send('createInvitation', { by, body: { email, role: 'member', showCode: true } });
  await send('resendInvitation', { by, path });
}

async function fillOrg(founders: Founders): Promise<void> {
  const by = founders.ada;
  usual.orgId = (await send('createOrg', { by })).org.id;
  await send('createOrg', { by });
  await inviteAndAnswer(founders);
  await send('addMember addMember changeMemberRole getMember', { by });
  await send('listOrgAuditEvents', { by, query: '?limit=1' });
  await send('listOrgAuditEvents listAuditEvents', { by, query: '?limit=0' });
  await send('getMe getOrg', { by });
  await send('getMe', { by, query: '?include=members' });

  const [third, busy] = [await anAccount(service), await anAccount(service)];
  await anOrgOf(busy);
  for (const { email } of [third, busy]) await send('addMember', { by, body: { email, role: 'member' } });
  for (const query of ['?limit=2', '?limit=0']) await send('listMembers', { by, query });
}

async function keepApiKeys(by: Caller, userId: string): Promise<void> {
  const { apiKey } = await send('createApiKey', { by });
  const keyId = apiKey.id;
  await send('listApiKeys', { by });
  await send('revokeFoundApiKey', { by: anyone });
  const { code } = (await by.post<Answered>('/api/auth/code')).body;
  const { token } = (await anyone.post<Answered>('/api/auth/code/exchange', { code })).body;
  await send('createApiKey revokeApiKey', { by: by.withToken(token) });
  await send('revokeApiKey revokeApiKey', { by, path: { keyId } });
  await insertApiKeys(50, { user_id: userId });
  await send('createApiKey', { by });
}

async function insertApiKeys(count: number, owner: { user_id: string; org_id?: string }): Promise<void> {
  const rows = times(count, anUnknownId).map((id) => ({ id, hash: id }));
  const life = { created_at: 1, expires_at: 1 };
  const same = { audience: 'billing', name: 'full', role: 'member', ...life, ...owner };
  await insertRows(db, 'api_keys', rows, same);
}

async function keepOrgApiKeys(by: Caller, userId: string): Promise<void> {
  const { body } = await by.get<{ orgs: { id: string }[] }>('/api/me');
  const path = { orgId: body.orgs[0]!.id };
  const { apiKey } = await send('createOrgApiKey', { by, path });
  await send('listOrgApiKeys', { by, path });
  const { code } = (await by.post<Answered>('/api/auth/code')).body;
  const { token } = (await anyone.post<Answered>('/api/auth/code/exchange', { code })).body;
  await send('createOrgApiKey revokeOrgApiKey', { by: by.withToken(token), path });
  await send('revokeOrgApiKey revokeOrgApiKey', { by, path: { ...path, keyId: apiKey.id } });
  await send('createOrgApiKey', { by: by.with({ 'if-match': '"0"' }), path });
  await insertApiKeys(100, { user_id: userId, org_id: path.orgId });
  await send('createOrgApiKey', { by, path });
}

async function manageSessions(by: Caller): Promise<void> {
  const { code } = (await by.post<Answered>('/api/auth/code')).body;
  const { token } = (await anyone.post<Answered>('/api/auth/code/exchange', { code })).body;
  const derived = anyone.withToken(token);
  await send('revokeSession revokeSessions changePassword deleteAccount', { by: derived });
  await send('revokeSession', { by });
  await send('revokeSessions', { by, query: '?all=1' });
  const wrong = { currentPassword: aPassword(), newPassword: aPassword() };
  await send('changePassword', { by, body: wrong });
  await send('deleteAccount', { by });
  await send('deleteAccount', { by, body: { password: aPassword() } });
  await send('changePassword revokeSessions listSessions', { by });
  for (const include of ['all', 'logins']) await send('getAccount', { by, query: `?include=${include}` });
  const password = exampleOf('changePassword')!['newPassword'];
  await anyone.post('/api/auth/login', { ...exampleOf('login'), password });
  const sessionId = (await by.get<Answered>('/api/me/sessions')).body.sessions[0]!.id;
  await send('revokeSession', { by, path: { sessionId } });
  await send('logOut', { by: anyone, body: exampleOf('logOut', 'refreshToken') });
  await send('logOut', { by: anyone });
  await send('logOut', { by: anyone.withToken('no.such.token'), body: {} });
  await send('logOut', { by: anyone, body: { refreshToken: 0 } });
}

function failures(): [operationId: string, code: string][] {
  return reader.operations.flatMap((operation) =>
    reader
      .responsesOf(operation)
      .flatMap(([, response]) => reader.problemsOf(response))
      .map(([code]): [string, string] => [operation.operationId, code]),
  );
}

async function failInGeneral(
  { ada, grace }: Founders,
  { name, authorization }: ServiceClient,
): Promise<void> {
  const outsider = await anAccount(service, 'outsider');
  const { code: issued } = await send('issueCode', { by: ada, body: { audience: name } });
  const billing = anyone.with({ authorization });
  const exchanged = await billing.post<Answered>('/api/auth/code/exchange', { code: issued });
  const bound = anyone.withToken(exchanged.body.token);
  const wrongSecret = anyone.with({ authorization: basic('billing', `acs_${'A'.repeat(43)}`) });
  const used = ada.with({ 'idempotency-key': 'used' });
  const suspended = await anAccount(service);
  const suspending = { orgId: (await anOrgOf(suspended)).id };
  await db.query('UPDATE orgs SET second_factor_from = 1 WHERE id = ?', [suspending.orgId]);
  const QUERIES: Record<string, string> = { listMembers: '?secondFactor=missing', getMe: '?include=profile' };
  const queryOf = (id: string) => QUERIES[id] ?? '';
  const requests: Record<string, (id: string) => Promise<unknown>> = {
    unauthorized: (id) => send(id, { by: anyone }),
    invalid_token: (id) => send(id, { by: anyone.withToken('no.such.token') }),
    // By the body, where the operation has one.
    validation_failed: (id) => {
      if (id === 'getMember' || id === 'getOrg') return send(id, { by: ada, query: '?include=no' });
      if (id === 'listOrgApiKeys') return send(id, { by: ada, query: '?remedy=no' });
      if (id === 'issueCode') return send(id, { by: ada, body: { codeChallengeMethod: 'S256' } });
      if (id === 'updateProfile') return send(id, { by: ada, body: { avatarUrl: 'ada.png' } });
      if (id === 'getOrg' || id === 'getMember') return send(id, { by: ada, query: '?include=roles' });
      return send(id, exampleOf(id) ? { by: ada, body: {} } : { by: ada, query: '?dryRun=no' });
    },
    password_common: (id) => {
      const body = exampleOf(id)!;
      const field = 'newPassword' in body ? 'newPassword' : 'password';
      // Ada's logins are counted.
      return send(id, { by: grace, body: { ...body, [field]: 'passwordpassword' } });
    },
    malformed_json: (id) => sendText(id, ada, 'application/json', '[]'),
    body_too_large: (id) => sendText(id, ada, 'application/json', ' '.repeat(17_000)),
    unsupported_media_type: (id) => sendText(id, ada, 'text/plain', 'text'),
    operator_required: (id) => send(id, { by: ada }),
    invalid_client: (id) => send(id, { by: wrongSecret }),
    insufficient_scope: (id) => send(id, { by: bound, query: queryOf(id) }),
    not_a_member: (id) => send(id, { by: outsider }),
    second_factor_required_by_org: (id) => send(id, { by: suspended, path: suspending }),
    insufficient_role: (id) => send(id, { by: grace, query: queryOf(id) }),
    org_not_found: (id) => send(id, { by: ada, path: { orgId: anUnknownId() } }),
    member_not_found: (id) => send(id, { by: ada, path: { userId: anUnknownId() } }),
    precondition_failed: (id) => send(id, { by: ada.with({ 'if-match': '"0"' }) }),
    idempotency_key_reused: (id) => send(id, { by: used }),
  };
  const { orgId, userId } = usual;
  await used.patch(`/api/orgs/${orgId}/members/${userId}?remedy=true`, { role: 'member' });
  usual.invitationId = (await invite(orgId, ada, anEmail())).id;
  for (const [id, code] of failures()) if (!answers.has(`${id} ${code}`)) await requests[code]?.(id);
}

async function exceedLimits(by: Caller): Promise<void> {
  await send('removeMember', { by });
  await send('addMember addMember', { by, body: { email: anEmail(), role: 'member' } });
  const wrong = { ...exampleOf('login'), password: aPassword() };
  await sendUntilRefused('login', { by: anyone, body: wrong });
  await sendUntilRefused('register', { by: anyone });
  await sendUntilRefused('exportData', { by });
  await send('changePassword deleteAccount', { by });
}

async function disableAccount(): Promise<void> {
  const deleted = await anAccount(service);
  await send('deleteAccount', { by: deleted, body: { password: deleted.password } });
  const { id, email, password } = await anAccount(service);
  await disable(id);
  await send('login', { by: anyone, body: { email, password } });
}

async function exceedWrites(): Promise<void> {
  const by = await anAccount(withoutMail);
  await send('issueCode', { by, body: {} });
  for (let count = 1; count < MOST_WRITES; count += 1) await by.delete('/api/me/sessions');
  await makeOperator(withoutMail, by);
  await showSecondFactor(withoutMail, by);
  await lookUpProviders(by);
  for (const [id, code] of failures())
    if (code === 'rate_limited' && !answers.has(`${id} ${code}`)) await send(id, { by });
}

async function requireProvider(): Promise<void> {
  const { id, email, password } = await anAccountOf(service, 'ada@acme.example');
  await protect(service, { id });
  const challenge = await aChallenge(service, { email, password });
  const provider = anUnknownId();
  await insertRow(db, 'providers', { id: provider, name: 'acme', required: 1 });
  await insertRow(db, 'provider_domains', { domain: 'acme.example', provider_id: provider });
  await send('register login', { by: anyone, body: { email, password } });
  await send(STEP, { by: anyone, body: { challenge, code: '492039' } });
}

/** Only the start asks the provider. */
async function logInAtProviders(): Promise<void> {
  const by = withoutMail.anyone;
  const provider = await TestProvider.start();
  const added = await addProvider(withoutMail, provider, { domains: ['example.com'] });
  const { clientId, secret } = provider;
  const down = await addProvider(withoutMail, { issuer: 'http://127.0.0.1:9', clientId, secret });
  const start = 'startProviderLogin';
  await send(start, { by, path: added });
  await send(start, { by });
  await send(start, { by, path: added, body: { ...exampleOf(start), redirectUri: undefined } });
  await send(start, { by, path: down });
  provider.stop();

  const receive = 'receiveProviderLogin';
  await send(receive, { by, query: '?state=x&code=x' });
  await send(receive, { by, query: `?state=${'x'.repeat(9000)}` });

  const confirm = (email: string | null) =>
    insertConfirmed(withoutMail, added, { subject: aSubject(), email });
  const finish = (body: object, more: object = {}) =>
    send('finishProviderLogin', { by, body: { ...body, ...more } });
  await finish(await confirm(null));
  await finish(await confirm(emailAt('example.com', 'someone')));
  const user = await anAccountOf(withoutMail, emailAt('example.com', 'someone'));
  const { password } = user;
  const confirmed = await confirm(user.email);
  await finish(confirmed);
  await finish(confirmed, { password: 'not the password' });
  const setDisabled = (at: number | null) =>
    withoutMail.db.query('UPDATE users SET disabled_at = ? WHERE id = ?', [at, user.id]);
  await setDisabled(1);
  await finish(confirmed, { password });
  await setDisabled(null);
  const { app } = await protect(withoutMail, user);
  await finish(confirmed, { password });
  await withoutMail.db.query('UPDATE second_factors SET last_step = 2147483647 WHERE user_id = ?', [user.id]);
  for (const secondFactorCode of [app.at(), app.wrong()])
    await finish(confirmed, { password, secondFactorCode });
  await unprotect(withoutMail, user);
  await finish(confirmed, { password, refresh: true });
  await finish(await confirm(user.email));
  await finish(confirmed);
  await sendUntilRefused('finishProviderLogin', { by, body: confirmed });
  await sendUntilRefused(receive, { by, query: '?state=x&code=x' });
}

/** At an installation whose JWT_ISSUER is a URL. */
async function lookUpProviders(by: Account): Promise<void> {
  const id = anUnknownId();
  const settings = JSON.stringify({ createUsers: true });
  await insertRow(withoutMail.db, 'providers', { id, name: 'acme', settings });
  await insertRow(withoutMail.db, 'provider_domains', { domain: 'acme.example', provider_id: id });
  await insertRow(withoutMail.db, 'identities', { provider_id: id, subject: 'a', user_id: by.id });
  await send('adminListProviders adminGetProvider', { by, path: { name: 'acme' } });
  await send('adminGetProvider', { by });
}

// In an order in which each can be what its example says.
await lookUp();
await askAsServices();
await operate();
await sendMails();
await leadOrgs();
await useSecondFactors();
await requireProvider();
const founders = await signIn();
await logInWithSecondFactors(founders.adaId);
await passLoginOn(founders.ada);
await fillOrg(founders);
const ofAda = { by: founders.ada, path: { userId: founders.adaId } };
await send('changeMemberRole removeMember', ofAda);
await send('getKeySet getLiveness getReadiness', { by: anyone });
await manageSessions(founders.ada);
await send('listSessions getAccount', { by: founders.ada, query: '?include=no' });
const acceptingKeys = await aServiceClient(db, ['keys'], 'billing');
await keepApiKeys(founders.ada, founders.adaId);
await keepOrgApiKeys(founders.ada, founders.adaId);
await failInGeneral(founders, acceptingKeys);
await exceedLimits(founders.ada);
await disableAccount();
await send('logOut', { by: founders.ada, body: {} });
await exceedWrites();
await logInAtProviders();
await failWhileClosed();
await send('getAuthConfig', { by: anyone });
await send('getAuthConfig', { by: anyone, query: '?include=no' });
for (const by of [anyone, withoutMail.anyone]) await send('getServerMetadata getOpenidConfiguration', { by });

describe('the examples of the OpenAPI document', () => {
  const documented = (): [name: string, examples: unknown[]][] =>
    reader.operations.flatMap((operation) =>
      reader.responsesOf(operation).flatMap(([status, response]) =>
        Number(status) < 400
          ? successesOf(operation.operationId, status, response)
          : reader
              .problemsOf(response)
              .filter(([code]) => !FAULTS.has(code))
              .map(([code, example]): [string, unknown[]] => [`${operation.operationId} ${code}`, [example]]),
      ),
    );

  /** Some depend on the request. */
  const successesOf = (
    id: string,
    status: string,
    { content }: DocumentedResponse,
  ): [string, unknown[]][] => {
    const { examples } = content?.['application/json'] ?? {};
    // A browser sees no JSON.
    return examples ? [[`${id} ${status}`, Object.values(examples).map(({ value }) => value)]] : [];
  };

  it('equal the real answers', () => {
    const answered = new Map([...answers].map(([name, { body }]) => [name, normalized(body)]));
    for (const [name, examples] of documented())
      expect(examples.map(normalized), name).toContainEqual(answered.get(name));
  });

  it('are complete', () => {
    const names = new Set(documented().map(([name]) => name));
    expect([...answers.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});

/** The same, with its form in place of a value that has one, and limits without their numbers. */
function normalized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalized);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, ALWAYS_NEW.get(key) ?? normalized(inner)]),
    );
  if (typeof value !== 'string') return value;
  return FORMS.find(([, form]) => form.test(value))?.[0] ?? value.replace(/belongs? to \d+/, 'belong to N');
}

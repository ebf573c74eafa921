import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson, BY_ROOT, failure, killedDuring } from '../support/accounts-command.js';
import { emailKey } from '../../src/rate-limits/rate-limit-store.js';
import { engine } from '../support/engine.js';
import {
  invalidCode,
  invalidCredentials,
  invalidRefreshToken,
  invalidToken,
  lastOwner,
  rateLimited,
} from '../support/expected.js';
import { addOrgs, insertRow, insertRows } from '../support/rows.js';
import {
  type Account,
  aCode,
  anAccount,
  anAccountOf,
  anEmail,
  anOrg,
  anOrgOf,
  aPassword,
  exchange,
  join,
  type Org,
  type Session,
} from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { aRefreshableLogin, refresh } from '../support/refreshing.js';
import { aChallenge, enrol, protect, secondStep } from '../support/second-factor.js';
import { startOwnService } from '../support/service.js';

const DAY_MS = 86_400_000;
/** More than one statement takes. */
const MANY_ORGS = 1200;
/** More than one transaction takes. */
const MANY_USERS = 230;

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' } });
const { installation } = service;
afterAll(() => service.stop());

const run = (...parameters: string[]) => accounts(installation, parameters);
const done = (...parameters: string[]) => accountsJson<Record<string, unknown>>(installation, parameters);
const login = (email: string, password: string) =>
  service.anyone.post<Session>('/api/auth/login', { email, password });
const countOf = async (sql: string, ...values: string[]): Promise<number> =>
  Number((await service.db.query(`SELECT COUNT(*) AS rows_found FROM ${sql}`, values))[0]!['rows_found']);

/** Runs a command, and returns the events that it leaves, without what they have in common. */
async function left(parameters: string[], input = ''): Promise<object[]> {
  const known = await knownEvents(service.db);
  await accountsJson(installation, [...parameters, ...BY_ROOT], { input });
  const events = await eventsSince(service.db, known);
  return events.map(({ actor_type, actor_id, reason, ...event }) => {
    expect([actor_type, actor_id, reason]).toEqual(['operator', 'root', 'a test']);
    return event;
  });
}
const event = (user: Account, type: string, data = {}, orgId: string | null = null) => ({
  type,
  user_id: user.id,
  org_id: orgId,
  data,
});
const endedAll = (user: Account, reason: string, epoch = 1) =>
  event(user, 'session.ended', { reason, all: true, epoch });

describe('accounts users create', () => {
  it('creates a user who sets a password by the printed code, and refuses a taken email', async () => {
    const known = await knownEvents(service.db);
    const email = anEmail('joan');
    const create = ['users', 'create', email.toUpperCase(), '--name', ' Joan Clarke ', '--verified'];
    const [created] = await accountsJson<{ user: { id: string }; code: string }>(installation, [
      ...create,
      ...BY_ROOT,
    ]);
    expect(created).toMatchObject({
      user: { email, name: 'Joan Clarke', emailVerified: true, passwordChangedAt: null },
      code: expect.stringMatching(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/) as string,
      expiresAt: expect.stringMatching(/Z$/) as string,
    });
    const { user, code } = created!;
    const [row] = await service.db.query('SELECT password_hash AS hash FROM users WHERE id = ?', [user.id]);
    expect(row).toEqual({ hash: '!' });
    expect(await eventsSince(service.db, known)).toEqual([
      {
        type: 'account.registered',
        actor_type: 'operator',
        actor_id: 'root',
        org_id: null,
        user_id: user.id,
        data: { via: 'operator' },
        reason: 'a test',
      },
    ]);
    expect(await run(...create, ...BY_ROOT)).toEqual(failure(1, /already exists/));
    const newPassword = aPassword();
    const reset = { email, code, newPassword };
    expect((await service.anyone.post('/api/auth/password/reset', reset)).status).toBe(200);
    expect((await login(email, newPassword)).status).toBe(200);
  });

  it('queues an email instead of printing the code if there is a mail server', async () => {
    const email = anEmail('joan');
    const env = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'no-reply@accounts.example' };
    const command = ['users', 'create', email, ...BY_ROOT];
    const { code, stdout } = await accounts(installation, command, { env });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^${email} .*: created, a code to set a password is sent by email\\n$`),
      ),
    ]);
    const mails = await service.db.query('SELECT kind, state FROM mails WHERE recipient = ?', [email]);
    expect(mails).toEqual([{ kind: 'password_setup', state: 'waiting' }]);
  });
});

describe('accounts users delete', () => {
  const deletion = ({ email }: Account, ...more: string[]) => ['users', 'delete', email, ...BY_ROOT, ...more];

  it('erases the account with all that belongs to it, at the next request, and leaves its rows', async () => {
    const { org, owner, admin, outsider } = await anOrg(service);
    const [used, pending] = [await aCode(admin), await aCode(admin)];
    const { token } = (await exchange(service, used)).body;
    await login(admin.email, admin.password);
    await join(org, admin, outsider, 'member');
    const known = await knownEvents(service.db);

    const [result] = await accountsJson(installation, deletion(admin));

    expect(result).toEqual({ id: admin.id, email: admin.email, changed: true });
    expect(await admin.get('/api/me')).toMatchObject(invalidToken);
    expect(await admin.withToken(token).get('/api/me')).toMatchObject(invalidToken);
    expect(await exchange(service, pending)).toMatchObject(invalidCode);
    expect(await login(admin.email, admin.password)).toMatchObject(invalidCredentials);
    const { body } = await owner.get<{ members: { userId: string }[] }>(`/api/orgs/${org.id}/members`);
    expect(body.members.map(({ userId }) => userId)).not.toContain(admin.id);

    const by = { actor_type: 'operator', actor_id: 'root', reason: 'a test' };
    const reason = 'account_deleted';
    expect(await eventsSince(service.db, known)).toEqual([
      { ...by, ...event(admin, 'account.deleted') },
      { ...by, ...event(admin, 'member.removed', { role: 'admin', reason }, org.id) },
      { ...by, ...endedAll(admin, reason) },
    ]);
    const last = await owner.get<{ events: object[] }>(`/api/orgs/${org.id}/events?limit=1`);
    expect(last.body.events).toMatchObject([{ type: 'member.removed', orgRevision: 5 }]);

    expect((await anAccountOf(service, admin.email)).id).not.toBe(admin.id);
  });

  it('takes the addresses of the account out of the record, and no others', async () => {
    const { org, owner, admin, member, outsider } = await anOrg(service);
    // In an organization that the admin has left since, as well.
    await admin.delete(`/api/orgs/${org.id}/members/${member.id}`);
    await admin.delete(`/api/orgs/${org.id}/members/${admin.id}`);
    const other = await anOrgOf(outsider);
    await join(other, outsider, admin, 'owner');
    await admin.delete(`/api/orgs/${other.id}/members/${outsider.id}`);
    await join(other, admin, owner, 'owner');
    const withAddress = (of: Account) =>
      countOf('events WHERE ip IS NOT NULL AND (user_id = ? OR actor_id = ?)', of.id, of.id);
    expect(await withAddress(admin)).toBeGreaterThan(4);
    // However old they are.
    const age = "UPDATE events SET id = CONCAT('0180', SUBSTR(id, 5)) WHERE actor_id = ?";
    await service.db.query(age, [admin.id]);
    const ownersOwn = () =>
      countOf('events WHERE ip IS NOT NULL AND user_id = ? AND actor_id = ?', owner.id, owner.id);
    const before = await ownersOwn();

    await accountsJson(installation, deletion(admin));

    expect(await withAddress(admin)).toBe(0);
    expect(before).toBeGreaterThan(0);
    expect(await ownersOwn()).toBe(before);
  });

  it('refuses the only enabled owner, says where nobody else is, and is recorded where forced', async () => {
    const only = await anAccount(service);
    const [alone, shared] = [await anOrgOf(only), await anOrgOf(only)];
    await join(shared, only, await anAccount(service), 'admin');
    const known = await knownEvents(service.db);

    const { code, stdout, stderr } = await accounts(installation, deletion(only));

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const both = [alone.id, shared.id].toSorted();
    expect(stderr).toMatch(/^refused: the user is the only enabled owner of [^\n]*\(last_owner\)\n$/);
    expect(/owner of (\S+), (\S+); no other/.exec(stderr)!.slice(1).toSorted()).toEqual(both);
    expect(stderr).toContain(`; no other user is in ${alone.id} (`);
    expect(await eventsSince(service.db, known)).toEqual([]);
    expect((await only.get('/api/me')).status).toBe(200);

    const [result] = await accountsJson<{ orphanedOrgs: object[] }>(installation, deletion(only, '--force'));
    const orphaned = [
      { id: alone.id, name: alone.name, isDeleted: true },
      { id: shared.id, name: shared.name, isDeleted: false },
    ];
    expect(new Set(result!.orphanedOrgs)).toEqual(new Set(orphaned));
    expect((await eventsSince(service.db, known)).map(({ type, data }) => [type, data])).toEqual([
      ['account.deleted', { force: true }],
      ['member.removed', { role: 'owner', reason: 'account_deleted' }],
      ['member.removed', { role: 'owner', reason: 'account_deleted' }],
      ['org.deleted', { force: true }],
      ['org.orphaned', { reason: 'owner_deleted', force: true }],
      ['session.ended', { reason: 'account_deleted', all: true, epoch: 1 }],
    ]);
    const windows =
      'SELECT purge_at - deleted_at AS window_ms FROM orgs WHERE id IN (?, ?) ORDER BY deleted_at';
    const windowsMs = (await service.db.query(windows, both)).map((row) => Number(row['window_ms']));
    expect(windowsMs).toEqual([0, 30 * DAY_MS]);
  });

  it('works for a user in very many organizations, and names at most 100 in a refusal', async () => {
    const user = await anAccount(service);
    await addOrgs(service.db, user, MANY_ORGS);

    const { code, stderr } = await accounts(installation, deletion(user));
    expect(code).toBe(1);
    expect(stderr.match(/[\da-f-]{36}/g)).toHaveLength(200);
    expect(stderr).toContain(' and 1100 more');

    const [forced] = await accountsJson<{ orphanedOrgs: object[] }>(installation, deletion(user, '--force'));
    expect(forced!.orphanedOrgs).toHaveLength(MANY_ORGS);
    expect(await countOf('members WHERE user_id = ?', user.id)).toBe(0);
    const removals = "events WHERE type = 'member.removed' AND org_revision = 2 AND user_id = ?";
    expect(await countOf(removals, user.id)).toBe(MANY_ORGS);
  });
});

describe('accounts sessions end-all', () => {
  const endAll = () => accountsJson<{ users: number }>(installation, ['sessions', 'end-all', ...BY_ROOT]);

  it('ends the sessions of all users at the next request, with a row for each, and spares who has none', async () => {
    await endAll();
    const [user, other] = [await anAccount(service), await anAccount(service)];
    const loggedOut = await anAccount(service);
    await loggedOut.post('/api/auth/logout');
    const code = await aCode(user);
    const { refreshToken } = await aRefreshableLogin(service, other);
    const ids = Array.from({ length: MANY_USERS }, () => randomUUIDv7());
    const users = ids.map((id) => ({ id }));
    await insertRows(service.db, 'users', users);
    const sessions = ids.map((id) => ({ id: randomUUIDv7(), user_id: id }));
    await insertRows(service.db, 'sessions', sessions);
    const known = await knownEvents(service.db);

    expect(await endAll()).toEqual([{ users: MANY_USERS + 2 }]);

    for (const one of [user, other]) expect(await one.get('/api/me')).toMatchObject(invalidToken);
    expect(await refresh(service, refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await exchange(service, code)).toMatchObject(invalidCode);
    const events = await eventsSince(service.db, known);
    expect(new Set(events.map(({ user_id }) => user_id))).toEqual(new Set([...ids, user.id, other.id]));
    expect(events).toHaveLength(MANY_USERS + 2);
    const by = { type: 'session.ended', actor_type: 'operator', actor_id: 'root', reason: 'a test' };
    const data = { reason: 'operator', all: true, epoch: 1 };
    for (const ended of events) expect(ended).toMatchObject({ ...by, data });

    const { status, body } = await login(user.email, user.password);
    expect(status).toBe(200);
    expect(await endAll()).toEqual([{ users: 1 }]);
    expect(await user.as(body.token).get('/api/me')).toMatchObject(invalidToken);
    expect(await endAll()).toEqual([{ users: 0 }]);
  });
});

// The services that the commands call run on both engines in the tests of the routes of operators.
describe.runIf(engine === 'sqlite')('what commands change and record', () => {
  let owner: Account;
  let org: Org;
  beforeAll(async () => {
    owner = await anAccount(service, 'owner');
    org = await anOrgOf(owner);
  });

  it('users unblock', async () => {
    const user = await anAccount(service, 'blocked');
    const { app } = await protect(service, user);
    const since = Date.now();
    for (const scope of ['login', 'signed-in'])
      await insertRow(service.db, 'second_factor_failures', { user_id: user.id, scope, count: 10, since });
    const challenge = await aChallenge(service, user);
    expect(await secondStep(service, challenge, app.at())).toMatchObject(rateLimited);
    expect(await left(['users', 'unblock', user.email])).toEqual([event(user, 'account.unblocked')]);
    expect((await secondStep(service, challenge, app.next())).status).toBe(200);
    expect(await countOf('lifted_limits WHERE lift_key = ?', emailKey(user.email))).toBe(1);
  });

  it('users disable, enable', async () => {
    const user = await anAccount(service);

    const disabled = [event(user, 'account.disabled'), endedAll(user, 'account_disabled')];
    expect(await left(['users', 'disable', user.email])).toEqual(disabled);
    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user.email, user.password)).status).toBe(403);
    expect(await left(['users', 'disable', user.id])).toEqual([]);

    expect(await left(['users', 'enable', user.email])).toEqual([event(user, 'account.enabled')]);
    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    const { body } = await login(user.email, user.password);
    expect((await user.as(body.token).get('/api/me')).status).toBe(200);
    expect(await left(['users', 'enable', user.email])).toEqual([]);
  });

  it('users verify-email, end-sessions', async () => {
    const user = await anAccount(service);
    const verify = ['users', 'verify-email', user.email];
    expect(await left(verify)).toEqual([event(user, 'account.email_verified')]);
    expect(await left(verify)).toEqual([]);
    expect(await left(['users', 'end-sessions', user.id])).toEqual([endedAll(user, 'operator')]);
    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user.email, user.password)).status).toBe(200);
  });

  it('users remove-second-factor', async () => {
    const user = await anAccount(service);
    await enrol(user);
    const remove = ['users', 'remove-second-factor', user.email];
    const removed = event(user, 'account.second_factor_removed');
    expect(await left(remove)).toEqual([removed, endedAll(user, 'second_factor_removed', 2)]);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    const { body } = await login(user.email, user.password);
    const { body: state } = await user.as(body.token).get<object>('/api/me/second-factor');
    expect(state).toEqual({ enabled: false, enabledAt: null, recoveryCodesLeft: 0 });
    expect(await left(remove)).toEqual([]);
  });

  it('users set-password, of a password that is the same in each form of Unicode', async () => {
    const user = await anAccount(service);
    const command = ['users', 'set-password', user.email];
    const password = `caf\u0065\u0301 ${aPassword()}`;
    const known = await knownEvents(service.db);
    expect(await accounts(installation, command, { input: 'short\n' })).toEqual(
      failure(1, /^refused: [^\n]*at least 8 characters[^\n]*\n$/),
    );
    expect(await eventsSince(service.db, known)).toEqual([]);

    const changed = [event(user, 'account.password_changed'), endedAll(user, 'password_changed')];
    expect(await left(command, `${password}\n`)).toEqual(changed);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    const statuses = [];
    for (const tried of [user.password, password.normalize('NFC'), password])
      statuses.push((await login(user.email, tried)).status);
    expect(statuses).toEqual([401, 200, 200]);
  });

  it('users set-password --generate, which prints the password and stores it in no other place', async () => {
    const { email } = await anAccount(service);
    const known = await knownEvents(service.db);

    const [result] = await done('users', 'set-password', email, '--generate');

    const password = String(result!['password']);
    expect(password.length).toBeGreaterThanOrEqual(20);
    const changes = await eventsSince(service.db, known);
    expect(changes.map(({ type }) => type)).toEqual(['account.password_changed', 'session.ended']);
    expect((await login(email, password)).status).toBe(200);
    expect(JSON.stringify(await service.db.query('SELECT * FROM events'))).not.toContain(password);
  });

  it('orgs delete and orgs restore: an organization goes and comes back with its members', async () => {
    const ada = await anAccount(service, 'ada');
    const { id: orgId } = await anOrgOf(ada);
    const known = await knownEvents(service.db);
    const answers = [];
    for (const name of ['delete', 'delete', 'restore', 'restore'])
      answers.push(...(await done('orgs', name, orgId)));

    const deleted = { orgId, purgeAt: expect.stringMatching(/Z$/) as string };
    expect(answers).toEqual([
      { ...deleted, changed: true },
      { ...deleted, changed: false },
      { orgId, changed: true },
      { orgId, changed: false },
    ]);
    expect((await ada.get(`/api/orgs/${orgId}`)).status).toBe(200);
    expect(await eventsSince(service.db, known)).toMatchObject([
      { type: 'org.deleted', org_id: orgId, reason: 'a test' },
      { type: 'org.restored', org_id: orgId, reason: 'a test' },
    ]);

    await done('orgs', 'delete', orgId);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    expect(await run('orgs', 'restore', orgId)).toEqual(failure(1, /^refused: [^\n]+\(last_owner\)\n$/));
    expect(await done('orgs', 'restore', orgId, '--force')).toEqual([{ orgId, changed: true }]);
  });

  it('users sessions: the active sessions, as over HTTP', async () => {
    const ada = await anAccount(service, 'ada');
    const { email, password } = ada;
    await service.anyone.post('/api/auth/login', { email, password, deviceName: 'Engine' });
    const sessions = await accountsJson<{ id: string }>(installation, ['users', 'sessions', ada.email]);

    const { body } = await ada.get<{ sessions: object[] }>('/api/me/sessions');
    expect(body.sessions).toEqual(sessions.map((one) => expect.objectContaining(one) as object));
    const { stdout } = await run('users', 'sessions', ada.email);
    expect(stdout.trimEnd().split('\n')).toEqual(
      sessions.map(({ id }) =>
        expect.stringMatching(new RegExp(`^${id}  password  used .+Z  127\\.0\\.0\\.1`)),
      ),
    );
    expect(stdout).toContain('Engine');
    await done('users', 'end-sessions', ada.email);
    expect((await run('users', 'sessions', ada.email)).stdout).toBe('none\n');
  });

  it('orgs add-owner: a member becomes owner, and the owner before stays one', async () => {
    const member = await anAccount(service);
    await join(org, owner, member, 'member');
    expect(await left(['orgs', 'add-owner', org.id, member.email])).toEqual([
      event(member, 'member.role_changed', { from: 'member', to: 'owner' }, org.id),
    ]);
    const path = `/api/orgs/${org.id}/members/${owner.id}`;
    const { body } = await member.patch<object>(path, { role: 'owner' });
    expect(body).toMatchObject({ member: { role: 'owner' } });
  });

  it('orgs add-owner: an outsider becomes owner only with --force, a disabled user never', async () => {
    const user = await anAccount(service);
    const addOwner = ['orgs', 'add-owner', org.id, user.email];
    const known = await knownEvents(service.db);
    expect(await run(...addOwner)).toEqual(failure(1, /^refused: [^\n]*not a member[^\n]*\n$/));
    expect(await eventsSince(service.db, known)).toEqual([]);

    const added = { role: 'owner', via: 'added', force: true };
    expect(await left([...addOwner, '--force'])).toEqual([event(user, 'member.added', added, org.id)]);
    expect(await left(addOwner)).toEqual([]);

    const disabled = await anAccount(service);
    await done('users', 'disable', disabled.email);
    expect(await run('orgs', 'add-owner', org.id, disabled.email, '--force')).toEqual(
      failure(1, 'refused: the user is disabled (member_disabled)\n'),
    );
  });

  it('with a reason of up to 500 characters or of ACCOUNTS_REASON, by the user of the system', async () => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);
    const reason = 'x'.repeat(500);

    await done('users', 'verify-email', user.email, '--reason', reason);
    const env = { ACCOUNTS_REASON: 'a nightly job' };
    await accountsJson(installation, ['users', 'end-sessions', user.email], { env });

    const bySystem = { actor_type: 'operator', actor_id: expect.stringMatching(/^\S+$/) as unknown };
    const events = await eventsSince(service.db, known);
    expect(events).toMatchObject([
      { ...bySystem, reason },
      { ...bySystem, reason: 'a nightly job' },
    ]);
  });
});

describe('the last-owner rule', () => {
  it('refuses to disable the only enabled owner, unless forced, which the record says', async () => {
    const only = await anAccount(service);
    const own = await anOrgOf(only);
    const known = await knownEvents(service.db);

    const why = `the user is the only enabled owner of ${own.id}; no other user is in ${own.id} (last_owner)`;
    expect(await run('users', 'disable', only.email)).toEqual(failure(1, `refused: ${why}\n`));
    expect(await eventsSince(service.db, known)).toEqual([]);
    expect((await only.get('/api/me')).status).toBe(200);

    const { id, email } = only;
    const orphanedOrgs = [{ id: own.id, name: own.name, isDeleted: false }];
    expect(await done('users', 'disable', email, '--force')).toEqual([
      { id, email, changed: true, orphanedOrgs },
    ]);
    expect(await eventsSince(service.db, known)).toMatchObject([
      { type: 'account.disabled', data: { force: true } },
      { type: 'org.orphaned', org_id: own.id, data: { reason: 'owner_disabled', force: true } },
      { type: 'session.ended' },
    ]);
  });

  it('names to people every organization that a forced command leaves without an enabled owner', async () => {
    const [only, owner] = [await anAccount(service), await anAccount(service)];
    const orgs = [await anOrgOf(only), await anOrgOf(only)];
    const kept = await anOrgOf(owner);
    await join(kept, owner, only, 'owner');

    const { code, stdout } = await run('users', 'disable', only.email, '--force');

    expect(code).toBe(0);
    for (const { id, name } of orgs) {
      const way = `no longer has an enabled owner: accounts orgs add-owner ${id} <USER>`;
      expect(stdout).toContain(`organization ${id} (${name}) ${way}\n`);
    }
    expect(stdout).not.toContain(kept.id);
    const doctor = await run('doctor', '--json');
    expect(doctor.code).toBe(1);
    const claim = 'every organization has an enabled owner';
    const finding = doctor.stdout.split('\n').find((line) => line.includes(claim))!;
    expect(JSON.parse(finding)).toMatchObject({
      holds: false,
      faults: expect.arrayContaining([expect.stringContaining(orgs[0]!.name)]) as unknown,
      remedy: expect.stringContaining('accounts orgs add-owner') as unknown,
    });
  });

  it('leaves one of two owners who are disabled at once, and does not count the disabled one', async () => {
    const [first, second] = [await anAccount(service), await anAccount(service)];
    const shared = await anOrgOf(first);
    await join(shared, first, second, 'owner');

    const results = await Promise.all([first, second].map(({ email }) => run('users', 'disable', email)));

    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 1]));
    const last = results[0]!.code === 1 ? first : second;
    expect((await run('users', 'disable', last.email)).code).toBe(1);
    const demotion = await last.patch(`/api/orgs/${shared.id}/members/${last.id}`, { role: 'member' });
    expect(demotion).toMatchObject(lastOwner);
  });
});

it('a command that is killed has made its change whole or not at all, with its row or without', async () => {
  const { id } = await anAccount(service);
  const count = (type: string) => `(SELECT COUNT(*) FROM events WHERE user_id = u.id AND type = '${type}')`;
  /** In one statement: what was sent before the end of a command may take effect a moment after it. */
  const state = async () => {
    const [row] = await service.db.query(
      `SELECT u.revision, u.disabled_at IS NOT NULL AS disabled, ${count('account.disabled')} AS disablings,
         ${count('account.enabled')} AS enablings, ${count('session.ended')} AS endings
       FROM users u WHERE u.id = ?`,
      [id],
    );
    return row as Record<'revision' | 'disabled' | 'disablings' | 'enablings' | 'endings', number>;
  };
  const { revision } = await state();

  for (let round = 0; round < 12; round += 1) {
    const { disabled } = await state();
    await killedDuring(installation, ['users', disabled ? 'enable' : 'disable', id], 250 + 40 * round);

    const after = await state();
    expect(after.revision - revision).toBe(after.disablings + after.enablings);
    expect(after.disabled).toBe(after.disablings - after.enablings);
    expect(after.endings).toBe(after.disablings);
  }
  const { disabled, enablings, disablings } = await state();
  await done('users', disabled ? 'enable' : 'disable', id);
  const last = await state();
  expect(last.enablings + last.disablings).toBe(enablings + disablings + 1);
});

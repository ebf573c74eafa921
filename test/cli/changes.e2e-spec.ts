import { afterAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson, BY_ROOT, failure, killedDuring } from '../support/accounts-command.js';
import { engine } from '../support/engine.js';
import { enrol } from '../support/second-factor.js';
import { invalidToken, lastOwner } from '../support/expected.js';
import { type Account, anAccount, anOrgOf, aPassword, join } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { startOwnService } from '../support/service.js';

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' } });
const { installation } = service;
const owner = await anAccount(service, 'owner');
const org = await anOrgOf(owner);
afterAll(() => service.stop());

const run = (...parameters: string[]) => accounts(installation, parameters);
const done = (...parameters: string[]) => accountsJson<Record<string, unknown>>(installation, parameters);

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

const login = ({ email }: Account, password: string) =>
  service.anyone.post<{ token: string }>('/api/auth/login', { email, password });

// The services that the commands call run on both engines in the tests of the routes of operators.
describe.runIf(engine === 'sqlite')('what commands change and record', () => {
  it('users disable, enable', async () => {
    const user = await anAccount(service);

    expect(await left(['users', 'disable', user.email])).toEqual([
      event(user, 'account.disabled'),
      endedAll(user, 'account_disabled'),
    ]);
    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user, user.password)).status).toBe(403);
    expect(await left(['users', 'disable', user.id])).toEqual([]);

    expect(await left(['users', 'enable', user.email])).toEqual([event(user, 'account.enabled')]);
    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    const { status, body } = await login(user, user.password);
    expect(status).toBe(200);
    expect((await user.as(body.token).get('/api/me')).status).toBe(200);
    expect(await left(['users', 'enable', user.email])).toEqual([]);
  });

  it('users end-sessions', async () => {
    const user = await anAccount(service);

    expect(await left(['users', 'end-sessions', user.id])).toEqual([endedAll(user, 'operator')]);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user, user.password)).status).toBe(200);
  });

  it('users remove-second-factor', async () => {
    const user = await anAccount(service);
    await enrol(user);
    expect((await user.get('/api/me')).status).toBe(200);

    expect(await left(['users', 'remove-second-factor', user.email])).toEqual([
      event(user, 'account.second_factor_removed'),
      endedAll(user, 'second_factor_removed', 2),
    ]);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    const { status, body } = await login(user, user.password);
    expect(status).toBe(200);
    const { body: state } = await user.as(body.token).get<object>('/api/me/second-factor');
    expect(state).toEqual({ enabled: false, enabledAt: null, recoveryCodesLeft: 0 });
    expect(await left(['users', 'remove-second-factor', user.email])).toEqual([]);
  });

  it('users set-password, of a password that is the same in each form of Unicode', async () => {
    const user = await anAccount(service);
    const password = `caf\u0065\u0301 ${aPassword()}`;
    const known = await knownEvents(service.db);
    expect(await accounts(installation, ['users', 'set-password', user.email], { input: 'short\n' })).toEqual(
      failure(1, /^refused: [^\n]*at least 8 characters[^\n]*\n$/),
    );
    expect(await eventsSince(service.db, known)).toEqual([]);

    expect(await left(['users', 'set-password', user.email], `${password}\n`)).toEqual([
      event(user, 'account.password_changed'),
      endedAll(user, 'password_changed'),
    ]);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user, user.password)).status).toBe(401);
    expect((await login(user, password.normalize('NFC'))).status).toBe(200);
    expect((await login(user, password)).status).toBe(200);
  });

  it('users set-password --generate, which prints the password and stores it in no other place', async () => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);

    const [result] = await done('users', 'set-password', user.email, '--generate');

    const password = String(result!['password']);
    expect(password.length).toBeGreaterThanOrEqual(20);
    expect((await login(user, password)).status).toBe(200);
    const changes = (await eventsSince(service.db, known)).filter(
      ({ actor_type }) => actor_type === 'operator',
    );
    expect(changes.map(({ type }) => type)).toEqual(['account.password_changed', 'session.ended']);
    expect(JSON.stringify(await service.db.query('SELECT * FROM events'))).not.toContain(password);
  });

  it('users verify-email', async () => {
    const user = await anAccount(service);
    expect(await left(['users', 'verify-email', user.email])).toEqual([
      event(user, 'account.email_verified'),
    ]);
    expect(await left(['users', 'verify-email', user.email])).toEqual([]);
  });

  it('orgs add-owner: a member becomes owner, and the owner before stays one', async () => {
    const member = await anAccount(service);
    await join(org, owner, member, 'member');

    expect(await left(['orgs', 'add-owner', org.id, member.email])).toEqual([
      event(member, 'member.role_changed', { from: 'member', to: 'owner' }, org.id),
    ]);

    const { body } = await member.patch<object>(`/api/orgs/${org.id}/members/${owner.id}`, {
      role: 'owner',
    });
    expect(body).toMatchObject({ member: { role: 'owner' } });
  });

  it('orgs add-owner: an outsider becomes owner only with --force, a disabled user never', async () => {
    const user = await anAccount(service);
    const setOwner = ['orgs', 'add-owner', org.id, user.email];
    const known = await knownEvents(service.db);
    expect(await run(...setOwner)).toEqual(failure(1, /^refused: [^\n]*no member[^\n]*\n$/));
    expect(await eventsSince(service.db, known)).toEqual([]);

    expect(await left([...setOwner, '--force'])).toEqual([
      event(user, 'member.added', { role: 'owner', via: 'added', force: true }, org.id),
    ]);
    expect(await left(setOwner)).toEqual([]);

    const disabled = await anAccount(service);
    await done('users', 'disable', disabled.email);
    expect(await run('orgs', 'add-owner', org.id, disabled.email, '--force')).toEqual(
      failure(1, 'refused: the user is disabled (member_disabled)\n'),
    );
  });

  it('with a reason of up to 500 characters, by the user of the system unless another is named', async () => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);

    await done('users', 'verify-email', user.email, '--reason', 'x'.repeat(500));
    await done('users', 'end-sessions', user.email);

    const bySystem = { actor_type: 'operator', actor_id: expect.stringMatching(/^\S+$/) as unknown };
    expect(await eventsSince(service.db, known)).toMatchObject([
      { ...bySystem, reason: 'x'.repeat(500) },
      { ...bySystem, reason: null },
    ]);
  });
});

describe('the last-owner rule', () => {
  it('refuses to disable the only enabled owner, unless forced, which the record says', async () => {
    const only = await anAccount(service);
    const own = await anOrgOf(only);
    const known = await knownEvents(service.db);

    expect(await run('users', 'disable', only.email)).toEqual(
      failure(
        1,
        `refused: the user is the only enabled owner of ${own.id}; nobody else is in ${own.id} (last_owner)\n`,
      ),
    );
    expect(await eventsSince(service.db, known)).toEqual([]);
    expect((await only.get('/api/me')).status).toBe(200);

    expect(await done('users', 'disable', only.email, '--force')).toEqual([
      {
        id: only.id,
        email: only.email,
        changed: true,
        orphanedOrgs: [{ id: own.id, name: own.name, isDeleted: false }],
      },
    ]);
    expect(await eventsSince(service.db, known)).toMatchObject([
      { type: 'account.disabled', data: { force: true } },
      { type: 'org.orphaned', org_id: own.id, data: { reason: 'owner_disabled', force: true } },
      { type: 'session.ended' },
    ]);
  });

  it('names to people every organization that a forced command leaves without an enabled owner', async () => {
    const only = await anAccount(service);
    const orgs = [await anOrgOf(only), await anOrgOf(only)];
    const kept = await anOrgOf(owner);
    await join(kept, owner, only, 'owner');

    const { code, stdout } = await run('users', 'disable', only.email, '--force');

    expect(code).toBe(0);
    for (const { id, name } of orgs) {
      const way = `has no enabled owner now: accounts orgs add-owner ${id} <USER>`;
      expect(stdout).toContain(`organization ${id} (${name}) ${way}\n`);
    }
    expect(stdout).not.toContain(kept.id);
    const doctor = await run('doctor', '--json');
    expect(doctor.code).toBe(1);
    const claim = 'every organization has an owner whose account is enabled';
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

describe('a command that is killed', () => {
  interface State {
    revision: number;
    disabled: number;
    disablings: number;
    enablings: number;
    endings: number;
  }

  /** In one statement: what was sent before the end of a command may take effect a moment after it. */
  async function stateOf(userId: string): Promise<State> {
    const count = (type: string) => `(SELECT COUNT(*) FROM events WHERE user_id = u.id AND type = '${type}')`;
    const [row] = await service.db.query(
      `SELECT u.revision, u.disabled_at IS NOT NULL AS disabled, ${count('account.disabled')} AS disablings,
         ${count('account.enabled')} AS enablings, ${count('session.ended')} AS endings
       FROM users u WHERE u.id = ?`,
      [userId],
    );
    return row as unknown as State;
  }

  it('has made its change whole or not at all, with its row or without', async () => {
    const user = await anAccount(service);
    const { revision } = await stateOf(user.id);

    for (let round = 0; round < 12; round += 1) {
      const { disabled } = await stateOf(user.id);
      await killedDuring(installation, ['users', disabled ? 'enable' : 'disable', user.id], 250 + 40 * round);

      const after = await stateOf(user.id);
      expect(after.revision - revision).toBe(after.disablings + after.enablings);
      expect(after.disabled).toBe(after.disablings - after.enablings);
      expect(after.endings).toBe(after.disablings);
    }
    const { disabled, enablings, disablings } = await stateOf(user.id);
    await done('users', disabled ? 'enable' : 'disable', user.id);
    const last = await stateOf(user.id);
    expect(last.enablings + last.disablings).toBe(enablings + disablings + 1);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson, killedDuring } from '../support/accounts-command.js';
import { enrol } from '../support/enrolment.js';
import { invalidToken } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, anAccount, anEmail, anOrgOf, aPassword, join, type Org } from '../support/personas.js';
import { eventsSince, knownEvents, type RecordedEvent } from '../support/recorded-events.js';
import { type Instance, startOwnService } from '../support/service.js';

const BY_ROOT = ['--as', 'root', '--reason', 'a test'];

interface World {
  user: Account;
  org: Org;
}

interface Case {
  name: string;
  command: (world: World) => string[];
  prepare?: (world: World) => Promise<unknown>;
  input?: string;
  before?: (world: World) => string[];
  /** without what every event of an operator has */
  leaves: (world: World) => Partial<RecordedEvent>[];
}

const allSessions = (reason: string, epoch = 1) => ({
  type: 'session.ended',
  data: { reason, all: true, epoch },
});

/** Every command that changes something, and the exact rows that it leaves, by type. */
const CASES: Case[] = [
  {
    name: 'disable',
    command: ({ user }) => ['users', 'disable', user.email],
    leaves: () => [{ type: 'account.disabled' }, allSessions('account_disabled')],
  },
  {
    name: 'disable, twice',
    before: ({ user }) => ['users', 'disable', user.id],
    command: ({ user }) => ['users', 'disable', user.id],
    leaves: () => [],
  },
  {
    name: 'enable',
    before: ({ user }) => ['users', 'disable', user.email],
    command: ({ user }) => ['users', 'enable', user.email],
    leaves: () => [{ type: 'account.enabled' }],
  },
  { name: 'enable, not disabled', command: ({ user }) => ['users', 'enable', user.email], leaves: () => [] },
  {
    name: 'end-sessions',
    command: ({ user }) => ['users', 'end-sessions', user.email],
    leaves: () => [allSessions('operator')],
  },
  {
    name: 'set-password from a pipe',
    command: ({ user }) => ['users', 'set-password', user.email],
    input: `${aPassword()}\n`,
    leaves: () => [{ type: 'account.password_changed' }, allSessions('password_changed')],
  },
  {
    name: 'set-password --generate',
    command: ({ user }) => ['users', 'set-password', user.email, '--generate'],
    leaves: () => [{ type: 'account.password_changed' }, allSessions('password_changed')],
  },
  {
    name: 'remove-second-factor',
    prepare: ({ user }) => enrol(user),
    command: ({ user }) => ['users', 'remove-second-factor', user.email],
    leaves: () => [{ type: 'account.second_factor_removed' }, allSessions('second_factor_removed', 2)],
  },
  {
    name: 'remove-second-factor, of a user who has none',
    command: ({ user }) => ['users', 'remove-second-factor', user.email],
    leaves: () => [],
  },
  {
    name: 'reset-code',
    command: ({ user }) => ['users', 'reset-code', user.email],
    leaves: () => [{ type: 'account.reset_code_issued' }],
  },
  {
    name: 'set-email',
    command: ({ user }) => ['users', 'set-email', user.email, anEmail('new'), '--verified'],
    leaves: () => [{ type: 'account.email_changed', data: { verified: true } }],
  },
  {
    name: 'set-email, to the same',
    command: ({ user }) => ['users', 'set-email', user.id, user.email],
    leaves: () => [],
  },
  {
    name: 'verify-email',
    command: ({ user }) => ['users', 'verify-email', user.email],
    leaves: () => [{ type: 'account.email_verified' }],
  },
  {
    name: 'verify-email, twice',
    before: ({ user }) => ['users', 'verify-email', user.email],
    command: ({ user }) => ['users', 'verify-email', user.email],
    leaves: () => [],
  },
  {
    name: 'operators grant',
    command: ({ user }) => ['operators', 'grant', user.email, '--force'],
    leaves: () => [{ type: 'account.operator_granted', data: { force: true } }],
  },
  {
    name: 'operators revoke',
    before: ({ user }) => ['operators', 'grant', user.email, '--force'],
    command: ({ user }) => ['operators', 'revoke', user.email],
    leaves: () => [{ type: 'account.operator_revoked' }],
  },
  {
    name: 'operators revoke, no operator',
    command: ({ user }) => ['operators', 'revoke', user.email],
    leaves: () => [],
  },
  {
    name: 'set-owner of an outsider, forced',
    command: ({ user, org }) => ['orgs', 'set-owner', org.id, user.email, '--force'],
    leaves: ({ org }) => [
      { type: 'member.added', org_id: org.id, data: { role: 'owner', via: 'added', force: true } },
    ],
  },
  {
    name: 'set-owner, twice',
    before: ({ user, org }) => ['orgs', 'set-owner', org.id, user.email, '--force'],
    command: ({ user, org }) => ['orgs', 'set-owner', org.id, user.email],
    leaves: () => [],
  },
];

let installation: Installation;
let service: Instance;
let owner: Account;
let org: Org;

beforeAll(async () => {
  installation = await anInstallation();
  service = await startOwnService({ installation, env: { RATE_LIMIT_REGISTER: 'off' } });
  owner = await anAccount(service, 'owner');
  org = await anOrgOf(owner);
});
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

const done = (parameters: string[], input?: string) =>
  accountsJson<Record<string, unknown>>(installation, parameters, input === undefined ? {} : { input });
const login = ({ email }: Account, password: string) =>
  service.anyone.post<{ token: string }>('/api/auth/login', { email, password });

describe('a command that changes something', () => {
  it.each(CASES)('$name leaves exactly its rows', async ({ command, prepare, input, before, leaves }) => {
    const world = { user: await anAccount(service), org };
    await prepare?.(world);
    if (before) await done(before(world));
    const known = await knownEvents(service.db);

    await done([...command(world), ...BY_ROOT], input);

    const common = { actor_type: 'operator', actor_id: 'root', reason: 'a test' };
    const about = { org_id: null, user_id: world.user.id, data: {} };
    const expected = leaves(world).map((event) => Object.assign({}, common, about, event));
    expect(await eventsSince(service.db, known)).toEqual(expected);
  });

  it.each(['x'.repeat(101), 'x'.repeat(500)])('records a long reason whole', async (reason) => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);

    await done(['users', 'end-sessions', user.email, '--reason', reason]);

    expect(await eventsSince(service.db, known)).toMatchObject([{ reason }]);
  });

  it('is done by the user of the system unless another is named', async () => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);

    await done(['users', 'end-sessions', user.email]);

    const [event] = await eventsSince(service.db, known);
    expect(event).toMatchObject({ actor_type: 'operator', reason: null });
    expect(event!.actor_id).toMatch(/^\S+$/);
  });
});

describe('beside a running service, at the next request', () => {
  it('a disabled user is logged out and cannot log in, an enabled one can', async () => {
    const user = await anAccount(service);

    await done(['users', 'disable', user.email]);
    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user, user.password)).status).toBe(403);

    await done(['users', 'enable', user.email]);
    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    const { status, body } = await login(user, user.password);
    expect(status).toBe(200);
    expect((await user.as(body.token).get('/api/me')).status).toBe(200);
  });

  it('ended sessions are ended, and the user can log in', async () => {
    const user = await anAccount(service);

    await done(['users', 'end-sessions', user.id]);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user, user.password)).status).toBe(200);
  });

  it('a second factor that was removed is asked for no more, and no session goes on', async () => {
    const user = await anAccount(service);
    await enrol(user);
    expect((await user.get('/api/me')).status).toBe(200);

    await done(['users', 'remove-second-factor', user.email, ...BY_ROOT]);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    const { status, body } = await login(user, user.password);
    expect(status).toBe(200);
    const { body: state } = await user.as(body.token).get<object>('/api/me/second-factor');
    expect(state).toEqual({ enabled: false, enabledAt: null, recoveryCodesLeft: 0 });
  });

  it('a password that was set is the one that counts', async () => {
    const user = await anAccount(service);
    const password = aPassword();

    await done(['users', 'set-password', user.email], `${password}\n`);

    expect(await user.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(user, user.password)).status).toBe(401);
    expect((await login(user, password)).status).toBe(200);
  });

  it('a password that is typed in another form of Unicode is the same', async () => {
    const user = await anAccount(service);
    const password = `caf\u0065\u0301 ${aPassword()}`;

    await done(['users', 'set-password', user.email], `${password}\n`);

    expect((await login(user, password.normalize('NFC'))).status).toBe(200);
    expect((await login(user, password)).status).toBe(200);
  });

  it('a generated password is printed once, and in no other place', async () => {
    const user = await anAccount(service);

    const [result] = await done(['users', 'set-password', user.email, '--generate']);

    const password = String(result!['password']);
    expect(password.length).toBeGreaterThanOrEqual(20);
    expect((await login(user, password)).status).toBe(200);
    expect(JSON.stringify(await service.db.query('SELECT * FROM events'))).not.toContain(password);
  });

  it('a member becomes owner, and the owner before stays one', async () => {
    const member = await anAccount(service);
    await join(org, owner, member, 'member');
    const known = await knownEvents(service.db);

    await done(['orgs', 'set-owner', org.id, member.email, ...BY_ROOT]);

    expect(await eventsSince(service.db, known)).toMatchObject([
      {
        type: 'member.role_changed',
        org_id: org.id,
        user_id: member.id,
        data: { from: 'member', to: 'owner' },
      },
    ]);
    const { body } = await member.patch<object>(`/api/orgs/${org.id}/members/${owner.id}`, { role: 'owner' });
    expect(body).toMatchObject({ member: { role: 'owner' } });
  });
});

describe('the last-owner rule', () => {
  it('refuses to disable the only enabled owner, unless forced, which the record says', async () => {
    const only = await anAccount(service);
    const own = await anOrgOf(only);
    const known = await knownEvents(service.db);

    const { code, stdout, stderr } = await accounts(installation, ['users', 'disable', only.email]);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      `refused: the user is the only enabled owner of ${own.id}; nobody else is in ${own.id} (last_owner)\n`,
    );
    expect(await eventsSince(service.db, known)).toEqual([]);
    expect((await only.get('/api/me')).status).toBe(200);

    const [result] = await done(['users', 'disable', only.email, '--force']);
    expect(result).toEqual({
      id: only.id,
      email: only.email,
      changed: true,
      orphanedOrgs: [{ id: own.id, name: own.name, isDeleted: false }],
    });
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

    const { code, stdout } = await accounts(installation, ['users', 'disable', only.email, '--force']);

    expect(code).toBe(0);
    for (const { id, name } of orgs) {
      const way = `has no enabled owner now: accounts orgs set-owner ${id} <USER>`;
      expect(stdout).toContain(`organization ${id} (${name}) ${way}\n`);
    }
    expect(stdout).not.toContain(kept.id);
    const doctor = await accounts(installation, ['doctor', '--json']);
    expect(doctor.code).toBe(1);
    const claim = 'every organization has an owner whose account is enabled';
    const finding = doctor.stdout.split('\n').find((line) => line.includes(claim))!;
    expect(JSON.parse(finding)).toMatchObject({
      holds: false,
      faults: expect.arrayContaining([expect.stringContaining(orgs[0]!.name)]) as unknown,
      remedy: expect.stringContaining('accounts orgs set-owner') as unknown,
    });
  });

  it('does not count an owner who is disabled', async () => {
    const [first, second] = [await anAccount(service), await anAccount(service)];
    const shared = await anOrgOf(first);
    await join(shared, first, second, 'owner');

    await done(['users', 'disable', first.email]);

    expect((await accounts(installation, ['users', 'disable', second.email])).code).toBe(1);
    const demotion = await second.patch(`/api/orgs/${shared.id}/members/${second.id}`, { role: 'member' });
    expect(demotion).toMatchObject({ status: 409, body: { code: 'last_owner' } });
  });

  it('two owners who are disabled at once: one stays', async () => {
    const [first, second] = [await anAccount(service), await anAccount(service)];
    const shared = await anOrgOf(first);
    await join(shared, first, second, 'owner');

    const results = await Promise.all(
      [first, second].map(({ email }) => accounts(installation, ['users', 'disable', email])),
    );

    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0, 1]));
  });
});

describe('what a command refuses', () => {
  it.each([
    ['an outsider as owner', (user: Account) => ['orgs', 'set-owner', org.id, user.email], /no member/],
    ['a short password', (user: Account) => ['users', 'set-password', user.email], /at least 8 characters/],
  ])('%s: one line, exit code 1, nothing left', async (_what, command, message) => {
    const user = await anAccount(service);
    const known = await knownEvents(service.db);

    const { code, stdout, stderr } = await accounts(installation, command(user), { input: 'short\n' });

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^refused: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    expect(await eventsSince(service.db, known)).toEqual([]);
  });

  it('a disabled user as owner', async () => {
    const user = await anAccount(service);
    await done(['users', 'disable', user.email]);

    const { code, stderr } = await accounts(installation, [
      'orgs',
      'set-owner',
      org.id,
      user.email,
      '--force',
    ]);

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'refused: the user is disabled (member_disabled)\n',
    });
  });
});

it('nothing can be run on the database of another version', async () => {
  const other = await anInstallation();
  const version = ['users', 'show', 'nobody@example.com'];
  await accountsJson(other, ['migrate']);
  const [last] = await other.db.query('SELECT id, name FROM migrations ORDER BY id DESC LIMIT 1');
  await other.db.query('UPDATE migrations SET name = ? WHERE id = ?', ['Other', last!['id']!]);
  const older = await accounts(other, version);

  expect(older).toMatchObject({ code: 2, stdout: '' });
  expect(older.stderr).toMatch(/^error: the database is of another version[^\n]+\n$/);

  const name = 'Later9999999999999';
  await other.db.query('UPDATE migrations SET name = ? WHERE id = ?', [last!['name']!, last!['id']!]);
  await other.db.query('INSERT INTO migrations (timestamp, name) VALUES (?, ?)', [9_999_999_999_999, name]);
  const newer = await accounts(other, version);

  expect(newer).toMatchObject({ code: 2, stdout: '' });
  expect(newer.stderr).toMatch(/^error: the database is of a newer version[^\n]+\n$/);
  await other.remove();
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
    await done(['users', disabled ? 'enable' : 'disable', user.id]);
    const last = await stateOf(user.id);
    expect(last.enablings + last.disablings).toBe(enablings + disablings + 1);
  });
});

describe('what is shown', () => {
  it('of users and organizations holds no hash and no token', async () => {
    const user = await anAccount(service, 'shown');
    await join(org, owner, user, 'member');
    const [row] = await service.db.query('SELECT password_hash FROM users WHERE id = ?', [user.id]);

    for (const command of [
      ['users', 'show', user.email],
      ['users', 'find', user.email.slice(0, 12)],
      ['orgs', 'show', org.id],
    ]) {
      for (const parameters of [command, [...command, '--json']]) {
        const { code, stdout } = await accounts(installation, parameters);
        expect(code).toBe(0);
        expect(stdout).toContain(user.email);
        expect(stdout).not.toContain(String(row!['password_hash']));
        expect(stdout).not.toMatch(/argon2|eyJ/);
      }
    }
  });

  it('of a user is who, since when, how many sessions and which organizations', async () => {
    const user = await anAccount(service, 'shown');
    const own = await anOrgOf(user, 'Own');

    expect(await done(['users', 'show', user.id])).toEqual([
      {
        id: user.id,
        email: user.email,
        createdAt: expect.stringMatching(/Z$/),
        disabledAt: null,
        emailVerifiedAt: null,
        passwordChangedAt: null,
        secondFactorAt: null,
        operatorSince: null,
        sessions: 1,
        invitations: 0,
        orgs: [{ id: own.id, name: 'Own', role: 'owner' }],
      },
    ]);
  });

  it('find takes the text as it is, and the case as any', async () => {
    const user = await anAccount(service, 'a_b');
    await anAccount(service, 'aXb');

    const found = await done(['users', 'find', user.email.slice(0, 5).toUpperCase()]);

    expect(found.map(({ id }) => id)).toContain(user.id);
    expect(found.every(({ email }) => String(email).startsWith('a_b'))).toBe(true);
    expect(await done(['users', 'find', '%'])).toEqual([]);
  });
});

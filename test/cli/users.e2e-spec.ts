import { randomUUIDv7 } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join as pathOf } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { accounts, accountsJson, BY_ROOT, failure, spawnAccounts } from '../support/accounts-command.js';
import {
  emailTaken,
  invalidCode,
  invalidCredentials,
  invalidRefreshToken,
  invalidToken,
} from '../support/expected.js';
import { insertColumns } from '../support/rows.js';
import {
  type Account,
  aCode,
  anAccount,
  anAccountOf,
  anOrg,
  anOrgOf,
  aPassword,
  join,
  type Session,
} from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';
import { aRefreshableLogin, refresh } from '../support/refreshing.js';
import { startOwnService } from '../support/service.js';

/** Made by another implementation of bcrypt. */
const PASSWORD = 'correct horse';
const BCRYPT = '$2y$04$7SinNdq8UJINIhJBZ8ZG4u9lUUIdSiE0geS98hBC1iVqs9cMiZvqG';
/** of 72 times x */
const BCRYPT_OF_72 = '$2a$04$sFiGSK7On/2RheaSPPC2NOtvVbGnzuC5e/s2n404X9cZI.u6BtTRy';
const ID = '9B2E6C1F-03D4-4f6a-8c15-5d0e7a3b92c4';

const DAY_MS = 86_400_000;
/** More than one statement takes. */
const MANY_ORGS = 1200;
/** More than one transaction takes. */
const MANY_USERS = 230;

const service = await startOwnService({ env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' } });
const { installation } = service;
afterAll(() => service.stop());

const login = (email: string, password: string) =>
  service.anyone.post<Session>('/api/auth/login', { email, password });
const countOf = async (sql: string, ...values: string[]): Promise<number> =>
  Number((await service.db.query(`SELECT COUNT(*) AS rows_found FROM ${sql}`, values))[0]!['rows_found']);

describe('accounts users import', async () => {
  const native = await anAccount(service, 'native');
  const argon2id = await hashOf(native.email);

  async function hashOf(email: string): Promise<string> {
    const [row] = await service.db.query('SELECT password_hash AS hash FROM users WHERE email = ?', [email]);
    return String(row!['hash']);
  }

  async function importing(parameters: string[], input = '') {
    const { code, stdout, stderr } = await accounts(
      installation,
      ['users', 'import', ...parameters, '--as', 'root', '--reason', 'moved', '--json'],
      { input },
    );
    expect(stderr).toBe('');
    const lines = stdout.trimEnd().split('\n');
    const results = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    return { code, stdout, refused: results.slice(0, -1), summary: results.at(-1) };
  }

  const rows = (): string[] => [
    JSON.stringify({ email: 'Ada@Imported.example', passwordHash: BCRYPT, emailVerified: true, id: ID }),
    JSON.stringify({ email: 'grace@imported.example', passwordHash: argon2id }),
    '',
    JSON.stringify({ email: 'long@imported.example', passwordHash: BCRYPT_OF_72, emailVerified: false }),
    '{"email":',
    JSON.stringify({ email: 'role@imported.example', passwordHash: BCRYPT, role: 'owner' }),
    JSON.stringify({ email: native.email, passwordHash: BCRYPT }),
    JSON.stringify({ email: 'id@imported.example', passwordHash: BCRYPT, id: native.id }),
    JSON.stringify({ email: 'ada@imported.example', passwordHash: BCRYPT, id: native.id }),
    JSON.stringify({ email: 'grace@imported.example', passwordHash: argon2id }),
    JSON.stringify({ email: 'md5@imported.example', passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99' }),
    JSON.stringify({ email: 'far@imported.example', passwordHash: BCRYPT, x: 'x'.repeat(5000) }),
  ];
  const REFUSED = [
    [5, 'invalid_json'],
    [6, 'unknown_field'],
    [7, 'email_taken'],
    [8, 'id_taken'],
    [9, 'email_taken'],
    [11, 'invalid_hash'],
    [12, 'line_too_long'],
  ];

  it('takes over what it can, shows each refused row, and can be run again', async () => {
    const file = pathOf(installation.directory, 'users.jsonl');
    await writeFile(file, `\ufeff${rows().join('\r\n')}`);

    const first = await importing([file]);

    expect(first.refused.map(({ line, refused }) => [line, refused])).toEqual(REFUSED);
    expect([first.code, first.summary]).toEqual([1, { imported: 3, skipped: 1, refused: 7 }]);
    expect(first.stdout).not.toMatch(/\$2|argon2id\$|imported\.example/);
    expect(
      await service.db.query(
        `SELECT id, email, email_verified_at IS NOT NULL AS verified, revision FROM users
          WHERE email LIKE '%@imported.example' ORDER BY email`,
      ),
    ).toEqual([
      { id: ID.toLowerCase(), email: 'ada@imported.example', verified: 1, revision: 1 },
      { id: expect.any(String) as string, email: 'grace@imported.example', verified: 0, revision: 1 },
      { id: expect.any(String) as string, email: 'long@imported.example', verified: 0, revision: 1 },
    ]);
    const events = await service.db.query(
      `SELECT type, actor_id, user_revision, data, reason FROM events WHERE reason = 'moved'`,
    );
    const registered = { type: 'account.registered', actor_id: 'root', user_revision: 1, reason: 'moved' };
    expect(events).toHaveLength(3);
    for (const event of events) expect(event).toEqual({ ...registered, data: '{"via":"import"}' });

    const second = await importing(['-'], rows().join('\n'));
    expect(second.refused).toEqual(first.refused);
    expect(second.summary).toEqual({ imported: 0, skipped: 4, refused: 7 });
  });

  it('lets people log in with the password that they had, and replaces a bcrypt hash', async () => {
    const email = 'ada@imported.example';
    expect(await login(email, `${PASSWORD}!`)).toMatchObject(invalidCredentials);
    expect(await hashOf(email)).toBe(BCRYPT);

    const { status, body } = await login(email, PASSWORD);

    expect(status).toBe(200);
    expect(await service.anyone.withToken(body.token).get('/api/me')).toMatchObject({
      body: { user: { id: ID.toLowerCase(), email } },
    });
    expect(await hashOf(email)).toMatch(/^\$argon2id\$/);
    expect((await login(email, PASSWORD)).status).toBe(200);
    expect((await login('grace@imported.example', native.password)).status).toBe(200);
    expect(await service.anyone.post('/api/auth/register', { email, password: aPassword() })).toMatchObject(
      emailTaken,
    );
  });

  it('does not bring back who was deleted', async () => {
    expect((await accounts(installation, ['users', 'delete', 'ada@imported.example'])).code).toBe(0);

    const { code, refused } = await importing(['-'], rows()[0]);

    expect([code, refused]).toMatchObject([1, [{ line: 1, refused: 'id_deleted' }]]);
  });

  it('verifies what bcrypt read of a long password once, and from then on all of it', async () => {
    const email = 'long@imported.example';
    const whole = `${'x'.repeat(72)} and more`;
    expect(await login(email, 'x'.repeat(71))).toMatchObject(invalidCredentials);
    expect((await login(email, whole)).status).toBe(200);
    expect(await login(email, 'x'.repeat(72))).toMatchObject(invalidCredentials);
    expect((await login(email, whole)).status).toBe(200);
  });

  it('that is killed has imported whole batches, and goes on when it is run again', async () => {
    const users = Array.from({ length: 4000 }, (_, index) =>
      JSON.stringify({ email: `u${index}@killed.example`, passwordHash: BCRYPT }),
    );
    const IMPORTED = "users WHERE email LIKE '%@killed.example'";
    const command = spawnAccounts(installation, ['users', 'import', '-']);
    command.stdin.on('error', () => undefined).write(`${users.slice(0, 3000).join('\n')}\n`);
    await waitFor('some rows are there', hangTimeoutMs(), async () => (await countOf(IMPORTED)) > 0);
    command.kill('SIGKILL');
    await once(command, 'close');
    const before = await countOf(IMPORTED);
    expect(before % 100).toBe(0);

    const { code, summary } = await importing(['-'], users.join('\n'));

    expect([code, summary]).toEqual([0, { imported: 4000 - before, skipped: before, refused: 0 }]);
    expect(await countOf(IMPORTED)).toBe(4000);
    expect(await countOf(`${IMPORTED} AND (SELECT COUNT(*) FROM events WHERE user_id = users.id) = 1`)).toBe(
      4000,
    );
  });

  it.each([['/nowhere/users.jsonl'], ['.']])('ends with 2 and one line for a file like %s', async (file) => {
    expect(await accounts(installation, ['users', 'import', file])).toEqual(
      failure(2, /^error: the file cannot be read: [^\n]+\n$/),
    );
  });
});

describe('accounts users delete', () => {
  const deletion = ({ email }: Account, ...more: string[]) => ['users', 'delete', email, ...BY_ROOT, ...more];

  it('erases the account with all that belongs to it, at the next request, and leaves its rows', async () => {
    const { org, owner, admin, outsider } = await anOrg(service);
    const [used, pending] = [await aCode(admin), await aCode(admin)];
    const exchange = (code: string) =>
      service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
    const { token } = (await exchange(used)).body;
    await login(admin.email, admin.password);
    await join(org, admin, outsider, 'member');
    const known = await knownEvents(service.db);

    const [result] = await accountsJson(installation, deletion(admin));

    expect(result).toEqual({ id: admin.id, email: admin.email, changed: true });
    expect(await admin.get('/api/me')).toMatchObject(invalidToken);
    expect(await admin.withToken(token).get('/api/me')).toMatchObject(invalidToken);
    expect(await exchange(pending)).toMatchObject(invalidCode);
    expect(await login(admin.email, admin.password)).toMatchObject(invalidCredentials);
    const { body } = await owner.get<{ members: { userId: string }[] }>(`/api/orgs/${org.id}/members`);
    expect(body.members.map(({ userId }) => userId)).not.toContain(admin.id);

    const by = { actor_type: 'operator', actor_id: 'root', user_id: admin.id, reason: 'a test' };
    const removal = { type: 'member.removed', org_id: org.id };
    expect(await eventsSince(service.db, known)).toEqual([
      { ...by, type: 'account.deleted', org_id: null, data: {} },
      { ...by, ...removal, data: { role: 'admin', reason: 'account_deleted' } },
      {
        ...by,
        type: 'session.ended',
        org_id: null,
        data: { reason: 'account_deleted', all: true, epoch: 1 },
      },
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
    // The last minute is looked through by time: these are found only by what they are about.
    await service.db.query("UPDATE events SET id = CONCAT('0180', SUBSTR(id, 5)) WHERE actor_id = ?", [
      admin.id,
    ]);
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
    expect(/owner of (\S+), (\S+); nobody/.exec(stderr)!.slice(1).toSorted()).toEqual(both);
    expect(stderr).toContain(`; nobody else is in ${alone.id} (`);
    expect(await eventsSince(service.db, known)).toEqual([]);
    expect((await only.get('/api/me')).status).toBe(200);

    const [result] = await accountsJson<{ orphanedOrgs: object[] }>(installation, deletion(only, '--force'));
    expect(result!.orphanedOrgs).toHaveLength(2);
    expect(result!.orphanedOrgs).toEqual(
      expect.arrayContaining([
        { id: alone.id, name: alone.name, isDeleted: true },
        { id: shared.id, name: shared.name, isDeleted: false },
      ]),
    );
    expect((await eventsSince(service.db, known)).map(({ type, data }) => [type, data])).toEqual([
      ['account.deleted', { force: true }],
      ['member.removed', { role: 'owner', reason: 'account_deleted' }],
      ['member.removed', { role: 'owner', reason: 'account_deleted' }],
      ['org.deleted', { force: true }],
      ['org.orphaned', { reason: 'owner_deleted', force: true }],
      ['session.ended', { reason: 'account_deleted', all: true, epoch: 1 }],
    ]);
    const deleted = await service.db.query(
      'SELECT id, purge_at - deleted_at AS window_ms FROM orgs WHERE deleted_at IS NOT NULL AND id IN (?, ?)',
      [alone.id, shared.id],
    );
    expect(deleted.map((row) => [row['id'], Number(row['window_ms'])])).toEqual([[alone.id, 30 * DAY_MS]]);
  });

  it('works for a user in very many organizations, and names at most 100 in a refusal', async () => {
    const user = await anAccount(service);
    const ids = Array.from({ length: MANY_ORGS }, () => randomUUIDv7());
    const orgs = ids.map((id) => [id, 'Org', 1, 1]);
    await insertColumns(service.db, 'orgs', 'id, name, revision, created_at', orgs);
    const members = ids.map((id) => [id, user.id, user.email, 'owner', 1]);
    await insertColumns(service.db, 'members', 'org_id, user_id, email, role, joined_at', members);

    const { code, stderr } = await accounts(installation, deletion(user));
    expect(code).toBe(1);
    expect(stderr.match(/[\da-f-]{36}/g)).toHaveLength(200);
    expect(stderr).toContain(' and 1100 more');

    const [forced] = await accountsJson<{ orphanedOrgs: object[] }>(installation, deletion(user, '--force'));
    expect(forced!.orphanedOrgs).toHaveLength(MANY_ORGS);
    expect(await countOf('members WHERE user_id = ?', user.id)).toBe(0);
    expect(await countOf("events WHERE type = 'member.removed' AND user_id = ?", user.id)).toBe(MANY_ORGS);
    const ended = await service.db.query(
      "SELECT DISTINCT org_revision AS revision FROM events WHERE type = 'member.removed' AND user_id = ?",
      [user.id],
    );
    expect(ended).toEqual([{ revision: 2 }]);
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
    const users = ids.map((id) => [id, `${id}@example.com`, 'x', 1]);
    await insertColumns(service.db, 'users', 'id, email, password_hash, created_at', users);
    const sessions = ids.map((id) => [randomUUIDv7(), id, 1, 1, Date.now() + 600_000]);
    await insertColumns(service.db, 'sessions', 'id, user_id, auth_time, created_at, expires_at', sessions);
    const known = await knownEvents(service.db);

    expect(await endAll()).toEqual([{ users: MANY_USERS + 2 }]);

    for (const one of [user, other]) expect(await one.get('/api/me')).toMatchObject(invalidToken);
    expect(await refresh(service, refreshToken)).toMatchObject(invalidRefreshToken);
    expect(await service.anyone.post('/api/auth/code/exchange', { code })).toMatchObject(invalidCode);
    const events = await eventsSince(service.db, known);
    expect(new Set(events.map(({ user_id }) => user_id))).toEqual(new Set([...ids, user.id, other.id]));
    expect(events).toHaveLength(MANY_USERS + 2);
    for (const event of events) {
      expect(event).toMatchObject({
        type: 'session.ended',
        actor_type: 'operator',
        actor_id: 'root',
        data: { reason: 'operator', all: true, epoch: 1 },
        reason: 'a test',
      });
    }

    const { status, body } = await login(user.email, user.password);
    expect(status).toBe(200);
    expect(await endAll()).toEqual([{ users: 1 }]);
    expect(await user.as(body.token).get('/api/me')).toMatchObject(invalidToken);
    expect(await endAll()).toEqual([{ users: 0 }]);
  });
});

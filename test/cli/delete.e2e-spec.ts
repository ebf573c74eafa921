import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts, accountsJson } from '../support/accounts-command.js';
import { invalidCode, invalidCredentials, invalidToken } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { type Account, aCode, anAccount, anAccountOf, anOrg, anOrgOf, join } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/recorded-events.js';
import { type Instance, startOwnService } from '../support/service.js';

const BY_ROOT = ['--as', 'root', '--reason', 'a test'];
const DAY_MS = 86_400_000;
/** More than one statement takes. */
const MANY_ORGS = 1200;

let installation: Installation;
let service: Instance;

beforeAll(async () => {
  installation = await anInstallation();
  service = await startOwnService({
    installation,
    env: { RATE_LIMIT_REGISTER: 'off', RATE_LIMIT_LOGIN: 'off' },
  });
});
afterAll(async () => {
  await service.stop();
  await installation.remove();
});

const deletion = (user: Account, ...more: string[]): string[] => [
  'users',
  'delete',
  user.email,
  ...BY_ROOT,
  ...more,
];
const countOf = async (sql: string, ...values: string[]): Promise<number> =>
  Number((await service.db.query(`SELECT COUNT(*) AS rows_found FROM ${sql}`, values))[0]!['rows_found']);

/** Rows that hold the id of the user, outside the record. */
async function rowsOf({ id }: Account): Promise<number> {
  const counts = [
    await countOf('users WHERE id = ?', id),
    await countOf('members WHERE user_id = ?', id),
    await countOf('sessions WHERE user_id = ?', id),
    await countOf('pending_revocations WHERE user_id = ?', id),
    await countOf('authorization_codes c LEFT JOIN sessions s ON s.id = c.session_id WHERE s.id IS NULL'),
  ];
  return counts.reduce((sum, count) => sum + count, 0);
}

describe('accounts users delete', () => {
  it('erases the account with all that belongs to it, at the next request, and leaves its rows', async () => {
    const { org, owner, admin, outsider } = await anOrg(service);
    const [used, pending] = [await aCode(admin), await aCode(admin)];
    const exchange = (code: string) =>
      service.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
    const { token } = (await exchange(used)).body;
    await service.anyone.post('/api/auth/login', { email: admin.email, password: admin.password });
    await join(org, admin, outsider, 'member');
    const known = await knownEvents(service.db);

    const [result] = await accountsJson(installation, deletion(admin));

    expect(result).toEqual({ id: admin.id, email: admin.email, changed: true });
    expect(await rowsOf(admin)).toBe(0);
    expect(await admin.get('/api/me')).toMatchObject(invalidToken);
    expect(await admin.withToken(token).get('/api/me')).toMatchObject(invalidToken);
    expect(await exchange(pending)).toMatchObject(invalidCode);
    const { email, password } = admin;
    expect(await service.anyone.post('/api/auth/login', { email, password })).toMatchObject(
      invalidCredentials,
    );
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
    const record = await accountsJson<{ type: string }>(installation, ['events', '--user', admin.id]);
    expect(record.map(({ type }) => type)).toContain('account.deleted');

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
    await service.db.query(
      `INSERT INTO orgs (id, name, revision, created_at) VALUES ${ids.map(() => "(?, 'Org', 1, 1)").join()}`,
      ids,
    );
    await service.db.query(
      `INSERT INTO members (org_id, user_id, email, role, joined_at)
        VALUES ${ids.map(() => "(?, ?, ?, 'owner', 1)").join()}`,
      ids.flatMap((id) => [id, user.id, user.email]),
    );

    const { code, stderr } = await accounts(installation, deletion(user));
    expect(code).toBe(1);
    expect(stderr.match(/[\da-f-]{36}/g)).toHaveLength(200);
    expect(stderr).toContain(' and 1100 more');

    const [forced] = await accountsJson<{ orphanedOrgs: object[] }>(installation, deletion(user, '--force'));
    expect(forced!.orphanedOrgs).toHaveLength(MANY_ORGS);
    expect(await rowsOf(user)).toBe(0);
    expect(await countOf("events WHERE type = 'member.removed' AND user_id = ?", user.id)).toBe(MANY_ORGS);
    const ended = await service.db.query(
      "SELECT DISTINCT org_revision AS revision FROM events WHERE type = 'member.removed' AND user_id = ?",
      [user.id],
    );
    expect(ended).toEqual([{ revision: 2 }]);
  });
});

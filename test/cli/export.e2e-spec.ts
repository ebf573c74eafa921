import { afterAll, describe, expect, it } from 'vitest';
import type { DataOf } from '../../client/src/index.ts';
import { accounts, accountsJson, examine, failure } from '../support/accounts-command.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import { times } from '../support/at-once.js';
import { hashApiKey } from '../../src/api-keys/api-key-format.js';
import { insertApiKey } from '../support/api-keys.js';
import { anOrgPurge } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { anInstallation } from '../support/installation.js';
import { allRows, insertRow, insertRows, sessionId } from '../support/rows.js';
import { anInvitation, verified } from '../support/inviting.js';
import { aCode, anEmail, anOrg, anUnknownId, aPassword, type Session } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { aServiceClient } from '../support/services.js';

const LOGINS = 600;
const A_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string;
const ADDRESS = '203.0.113.77';
const USER_AGENT = 'Looms/1.0';

type Exported = DataOf<'exportData'>;

const installation = await anInstallation();
const env = { RATE_LIMIT_REGISTER: 'off', TRUST_PROXY: '127.0.0.1' };
const service = await startOwnService({ installation, env });
const cast = await anOrg(service);
await service.anyone.post('/api/auth/code/exchange', { code: await aCode(cast.admin) });
await aCode(cast.admin);
afterAll(() => installation.remove());

describe('accounts export', () => {
  /** As if the user had logged in very often. */
  async function addLogins(userId: string): Promise<void> {
    const ids = times(LOGINS, (number) => ({ id: sessionId(number) }));
    await insertRows(service.db, 'sessions', ids, { user_id: userId, expires_at: 1 });
    // Their marks are long gone: a doctor finds fault with those of old events.
    const event = { type: 'session.started', at: 1, actor_type: 'user', data: '{}', pending: null };
    await insertRows(service.db, 'events', ids, { ...event, user_id: userId });
  }

  it('holds everything about the user, and nothing of others or secret', async () => {
    const { org, owner, admin } = cast;
    await addLogins(admin.id);
    await verified(service.db, admin);
    const mail = { kind: 'password_changed', state: 'sent', created_at: Date.now(), next_attempt_at: 1 };
    for (const { email } of [admin, owner])
      await insertRow(service.db, 'mails', { id: anUnknownId(), recipient: email, ...mail });
    await admin.patch('/api/me/profile', { name: 'Ada', locale: 'de' });
    const { code, stdout, stderr } = await accounts(installation, ['export', admin.email]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const found = JSON.parse(stdout) as Exported;
    expect(found).toMatchObject({
      exportedAt: A_TIME,
      account: {
        id: admin.id,
        email: admin.email,
        name: 'Ada',
        locale: 'de',
        createdAt: A_TIME,
        disabledAt: null,
      },
      organizations: [{ id: org.id, name: org.name, role: 'admin', joinedAt: A_TIME }],
    });
    expect(found.mails).toEqual([expect.objectContaining({ kind: 'password_changed', state: 'sent' })]);
    expect(found.sessions).toHaveLength(LOGINS + 2);
    expect(new Set(found.sessions.map(({ id }) => id)).size).toBe(LOGINS + 2);
    expect(found.sessions.filter(({ via }) => via === 'code')).toHaveLength(1);

    const events = found.events.filter(({ ip }) => ip !== null);
    expect(found.events).toHaveLength(LOGINS + 4);
    expect(events.map(({ type, ip }) => `${type} ${ip}`).toSorted()).toEqual([
      'account.profile_changed 127.0.0.1',
      'account.registered 127.0.0.1',
      'session.started 127.0.0.1',
    ]);
    const byOwner = { actor: { id: owner.id, sessionId: null }, ip: null, requestId: null };
    expect(found.events.find(({ type }) => type === 'member.added')).toMatchObject(byOwner);
    for (const secret of [owner.email, admin.token, 'argon2']) expect(stdout).not.toContain(secret);
  });

  it('holds the API keys that the user made, own ones and those of organizations, and no hash', async () => {
    const { admin, owner, org } = cast;
    const billing = await aServiceClient(service.db, ['keys']);
    const own = await insertApiKey(service, admin, billing);
    const ofOrg = await insertApiKey(service, admin, billing, { orgId: org.id, role: 'admin' });
    await insertApiKey(service, owner, billing, { orgId: org.id });
    const { stdout } = await accounts(installation, ['export', admin.email]);
    const common = { name: 'nightly export', audience: billing.name, createdAt: A_TIME, expiresAt: A_TIME };
    expect((JSON.parse(stdout) as Exported).apiKeys).toEqual([
      { ...common, id: ofOrg.id, role: 'admin', orgId: org.id, lastUsedAt: null },
      { ...common, id: own.id, role: 'member', orgId: null, lastUsedAt: null },
    ]);
    expect(stdout).not.toContain(hashApiKey(own.key));
  });

  it('holds the invitations for the e-mail, once it is verified', async () => {
    const { owner, outsider, org } = cast;
    const invitation = await anInvitation(owner, org, { email: outsider.email });
    const exported = async (): Promise<Exported> =>
      JSON.parse((await accounts(installation, ['export', outsider.id])).stdout) as Exported;

    expect((await exported()).invitations).toEqual([]);
    await verified(service.db, outsider);

    const { id, role, status, createdAt, expiresAt } = invitation;
    expect((await exported()).invitations).toEqual([{ id, org, role, status, createdAt, expiresAt }]);
    const { stdout } = await accounts(installation, ['users', 'show', outsider.id]);
    expect(stdout).toMatch(/^invitations +1 pending$/m);
  });

  it('is what the user gets over HTTP, but for the time, and one line with --json', async () => {
    await waitFor('the login is noted', hangTimeoutMs(), async () => {
      const sql = 'SELECT user_id FROM login_traces WHERE user_id = ?';
      return (await service.db.query(sql, [cast.admin.id])).length > 0;
    });
    const { stdout } = await accounts(installation, ['export', cast.admin.id, '--json']);
    expect(stdout.trimEnd()).not.toContain('\n');
    const { body } = await cast.admin.get<Exported>('/api/me/export');
    const { exportedAt, ...printed } = JSON.parse(stdout) as Exported;
    expect(body).toEqual({ ...printed, exportedAt: expect.any(String) as string });
    expect(body.exportedAt >= exportedAt).toBe(true);
  });

  it('holds the client addresses of sessions, which are gone with the account', async () => {
    const credentials = { email: anEmail(), password: aPassword() };
    const client = service.anyone.with({ 'x-forwarded-for': ADDRESS, 'user-agent': USER_AGENT });
    const { body } = await client.post<Session>('/api/auth/register', credentials);
    await client.post('/api/auth/login', { ...credentials, refresh: true });
    const user = client.withToken(body.token);
    const { code } = (await user.post<{ code: string }>('/api/auth/code')).body;
    expect((await client.post('/api/auth/code/exchange', { code })).status).toBe(200);

    const { stdout } = await accounts(installation, ['export', credentials.email]);
    const { sessions } = JSON.parse(stdout) as Exported;
    expect(sessions).toHaveLength(3);
    for (const session of sessions) expect(session).toMatchObject({ ip: ADDRESS, userAgent: USER_AGENT });
    expect(await tablesWith(ADDRESS)).toEqual(['events', 'sessions']);

    expect((await user.delete('/api/me', { password: credentials.password })).status).toBe(200);

    expect(await tablesWith(ADDRESS)).toEqual([]);
    expect(await tablesWith(USER_AGENT)).toEqual([]);
  });

  async function tablesWith(text: string): Promise<string[]> {
    const tables = Object.entries(await allRows(service.db));
    return tables.flatMap(([name, rows]) => (rows.some((row) => row.includes(text)) ? name : [])).toSorted();
  }
});

describe('an operator, of a deleted organization', () => {
  it('is told that it is deleted, by every command that shows it', async () => {
    const { org, owner, admin } = cast;
    await owner.delete(`/api/orgs/${org.id}`);

    const [shown] = await accountsJson<object>(installation, ['orgs', 'show', org.id]);
    const counts = { owner: 1, admin: 1, member: 1 };
    expect(shown).toMatchObject({ id: org.id, deletedAt: A_TIME, purgeAt: A_TIME, counts });
    expect((await accounts(installation, ['orgs', 'show', org.id])).stdout).toMatch(/^deletedAt {2}\S+Z$/m);
    const [user] = await accountsJson<object>(installation, ['users', 'show', admin.email]);
    expect(user).toMatchObject({ orgs: [{ id: org.id, role: 'admin', deletedAt: A_TIME }] });
    expect((await accounts(installation, ['users', 'show', admin.email])).stdout).toMatch(/ DELETED$/m);
    const { stdout } = await accounts(installation, ['export', admin.email]);
    expect(JSON.parse(stdout)).toMatchObject({ organizations: [{ id: org.id, deletedAt: A_TIME }] });
  });

  it('makes no owner there, disables and deletes its owners', async () => {
    const { org, owner, admin } = cast;
    const refused = failure(1, /\(org_not_found\)/);
    expect(await accounts(installation, ['orgs', 'add-owner', org.id, admin.id])).toEqual(refused);
    expect(await accounts(installation, ['users', 'disable', owner.id])).toMatchObject({ code: 0 });
    expect(await accounts(installation, ['users', 'delete', owner.id])).toMatchObject({ code: 0 });
  });

  it('finds the data sound before, amid and after its purge', async () => {
    const { org, admin } = cast;
    await service.stop();
    expect((await examine(installation)).code).toBe(0);

    const now = Date.now();
    const began = 'UPDATE orgs SET purge_at = ?, purge_began_at = ? WHERE id = ?';
    await installation.db.query(began, [now, now, org.id]);
    await installation.db.query('DELETE FROM members WHERE user_id = ?', [admin.id]);
    expect((await examine(installation)).code).toBe(0);

    const dataSource = await aDataSource(installation);
    await anOrgPurge(dataSource).purgeBatch(now);
    await dataSource.destroy();
    expect(await installation.db.query('SELECT * FROM orgs')).toEqual([]);
    expect((await examine(installation)).code).toBe(0);
  });
});

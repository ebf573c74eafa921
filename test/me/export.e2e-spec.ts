import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { invalidToken, stepUpRequired } from '../support/expected.js';
import { addLongHistory } from '../support/rows.js';
import { PausedReader } from '../support/connections.js';
import { type Account, anAccount, anOrg, anOrgOf, aPassword, byCode, logIn } from '../support/personas.js';
import { startService } from '../support/service.js';

const EXPORT = '/api/me/export';

interface Exported {
  account: object;
  organizations: object[];
  secondFactor: object[];
  sessions: { id: string; via: string; revokedAt: string | null }[];
  events: { id: string; type: string; ip: string | null }[];
}

const service = await startService();
afterAll(() => service.stop());

describe('the export of one’s own data', () => {
  it('holds everything about the user, and nothing secret or of others', async () => {
    const { admin, owner, org } = await anOrg(service);
    await byCode(service, admin);
    await service.db.query('UPDATE users SET second_factor_at = 1 WHERE id = ?', [admin.id]);
    const sql = "INSERT INTO second_factors (user_id, secret, enabled_at) VALUES (?, 'the sealed secret', 1)";
    await service.db.query(sql, [admin.id]);
    await service.db.query('INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)', [admin.id, 'a hash']);
    await service.db.query("UPDATE sessions SET amr = 'pwd otp' WHERE user_id = ?", [admin.id]);

    const { status, headers, body, text } = await admin.get<Exported>(EXPORT);

    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    const lists = ['organizations', 'secondFactor', 'sessions', 'events', 'mails', 'invitations'];
    expect(Object.keys(body)).toEqual(['exportedAt', 'account', ...lists]);
    expect(body.account).toMatchObject({ id: admin.id, email: admin.email, passwordChangedAt: null });
    expect(body.secondFactor).toEqual([{ enabledAt: '1970-01-01T00:00:00.001Z', recoveryCodesLeft: 1 }]);
    expect(body.organizations).toEqual([expect.objectContaining({ id: org.id, role: 'admin' })]);
    expect(body.sessions.map(({ via }) => via).toSorted()).toEqual(['code', 'password']);
    expect(body.events.find(({ type }) => type === 'member.added')).toMatchObject({ ip: null });
    const [user] = await service.db.query('SELECT password_hash AS hash FROM users WHERE id = ?', [admin.id]);
    for (const secret of [String(user!['hash']), owner.email, admin.token, 'sealed secret', 'a hash'])
      expect(text).not.toContain(secret);
  });

  it('says when the sessions ended that ended with all others', async () => {
    const ada = await anAccount(service, 'ada');
    const again = async (): Promise<Account> => ada.as((await logIn(service, ada)).body.token);
    const began = new Date().toISOString();
    await ada.delete('/api/me/sessions?all=true');
    await again();
    const between = new Date().toISOString();
    const current = await again();
    const change = { currentPassword: ada.password, newPassword: aPassword() };
    expect((await current.put('/api/me/password', change)).status).toBe(200);
    const ended = new Date().toISOString();
    const { sessions } = (await current.get<Exported>(EXPORT)).body;
    const [first, second, third] = sessions.map(({ revokedAt }) => revokedAt);
    const inOrder = [began, first, between, second, ended];
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1)));
    expect([third, sessions.length]).toEqual([null, 3]);
  });

  it('is closed to everybody without a login by password', async () => {
    const ada = await anAccount(service, 'ada');
    expect((await service.anyone.get(EXPORT)).status).toBe(401);
    expect(await (await byCode(service, ada)).get(EXPORT)).toMatchObject(stepUpRequired);
    await ada.delete('/api/me/sessions?all=true');
    expect(await ada.get(EXPORT)).toMatchObject(invalidToken);
  });

  it('is limited for each user, from whatever address and session', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const statuses = [1, 2, 3, 4].map(() => ada.get(EXPORT).then(({ status }) => status));
    expect((await Promise.all(statuses)).filter((status) => status === 429)).toHaveLength(1);
    expect((await grace.get(EXPORT)).status).toBe(200);
  });

  describe('that is long', () => {
    let reader: Account;
    let oldest: string;

    beforeEach(async () => {
      reader = await anAccount(service, 'reader');
      await anOrgOf(reader);
      oldest = await addLongHistory(service, reader.id);
    });

    it('is complete for a client that pauses', async () => {
      const stream = await PausedReader.get(service, EXPORT, reader);
      const { text, whole } = await stream.readOn();
      expect([whole, text.includes(oldest)]).toEqual([true, true]);
    });

    it('is cut off for a client that logs out meanwhile', async () => {
      const stream = await PausedReader.get(service, EXPORT, reader);
      await reader.post('/api/auth/logout');
      const { text, whole } = await stream.readOn();
      expect([whole, text.includes(oldest)]).toEqual([false, false]);
    });
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import {
  invalidCredentials,
  invalidFields,
  invalidToken,
  lastOwner,
  passwordSessionRequired,
  unauthorized,
  wrongPassword,
} from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, aCode, anAccount, anOrg, anOrgOf, aPassword } from '../support/personas.js';
import { aRefreshableLogin, refresh, type Tokens } from '../support/refreshing.js';
import { startService } from '../support/service.js';

const service = await startService();
afterAll(() => service.stop());

describe('the deletion of an account', () => {
  const remove = (who: Account, password: unknown = who.password) => who.delete('/api/me', { password });
  const rowsOf = async ({ id }: Account): Promise<number[]> => {
    const counts = [
      'SELECT COUNT(*) AS found FROM users WHERE id = ?',
      'SELECT COUNT(*) AS found FROM sessions WHERE user_id = ?',
      'SELECT COUNT(*) AS found FROM members WHERE user_id = ?',
    ];
    const rows = await Promise.all(counts.map((sql) => service.db.query(sql, [id])));
    return rows.map(([row]) => Number(row!['found']));
  };

  it('takes memberships, sessions, codes and refresh tokens with it, and leaves the record', async () => {
    const { org, owner, member } = await anOrg(service);
    const login = await aRefreshableLogin(service, member);
    const { body } = await service.anyone.post<Tokens>('/api/auth/code/exchange', {
      code: await aCode(member),
    });
    const code = await aCode(member);

    const answer = await remove(member);

    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await rowsOf(member)).toEqual([0, 0, 0]);
    for (const token of [member.token, login.token, body.token]) {
      expect(await member.as(token).get('/api/me')).toMatchObject(invalidToken);
    }
    expect((await refresh(service, login.refreshToken)).status).toBe(401);
    expect((await service.anyone.post('/api/auth/code/exchange', { code })).status).toBe(400);
    const { email, password } = member;
    expect(await service.anyone.post('/api/auth/login', { email, password })).toMatchObject(
      invalidCredentials,
    );
    const { body: members } = await owner.get<{ members: { userId: string }[] }>(
      `/api/orgs/${org.id}/members`,
    );
    expect(members.members.map(({ userId }) => userId)).not.toContain(member.id);
    const events = await service.db.query(
      'SELECT type, actor_id, ip FROM events WHERE user_id = ? ORDER BY id',
      [member.id],
    );
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['account.deleted', 'session.ended', 'member.removed']),
    );
    expect(events.filter(({ actor_id: actor, ip }) => actor === member.id && ip !== null)).toEqual([]);
  });

  it('needs the password, and changes nothing without it', async () => {
    const ada = await anAccount(service, 'ada');
    for (const wrong of [aPassword(), `${ada.password} `]) {
      expect(await remove(ada, wrong)).toMatchObject(wrongPassword);
    }
    for (const none of [undefined, null, '', 0, {}]) {
      expect(await ada.delete('/api/me', { password: none })).toMatchObject(invalidFields('password'));
    }
    expect((await ada.delete('/api/me')).status).toBe(400);
    expect(await rowsOf(ada)).toEqual([1, 1, 0]);
  });

  it('is refused for the only owner of organizations, which it names', async () => {
    const { org, owner } = await anOrg(service);
    const alone = await anOrgOf(owner, 'Alone');

    const answer = await remove(owner);

    expect(answer).toMatchObject(lastOwner);
    const { orgs } = answer.body as { orgs: { id: string }[] };
    expect(orgs.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      { ...org, hasOtherMembers: true },
      { ...alone, hasOtherMembers: false },
    ]);
    expect(await rowsOf(owner)).toEqual([1, 1, 2]);
  });

  it('is not for a service that holds a token from a code', async () => {
    const ada = await anAccount(service, 'ada');
    const { body } = await service.anyone.post<Tokens>('/api/auth/code/exchange', { code: await aCode(ada) });
    expect(await remove(ada.as(body.token))).toMatchObject(passwordSessionRequired);
    expect(await service.anyone.delete('/api/me', { password: ada.password })).toMatchObject(unauthorized);
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('is refused where another password was set meanwhile', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const [other] = await service.db.query('SELECT password_hash FROM users WHERE id = ?', [grace.id]);
    const held = await holdRows(service);
    await held.write('UPDATE users SET password_hash = ? WHERE id = ?', [
      String(other!['password_hash']),
      ada.id,
    ]);
    const answer = remove(ada);
    await held.untilOneWaits();
    await held.commit();
    expect(await answer).toMatchObject(wrongPassword);
    expect(await rowsOf(ada)).toEqual([1, 1, 0]);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import {
  invalidCredentials,
  invalidFields,
  invalidToken,
  lastOwner,
  wrongPassword,
} from '../support/expected.js';
import { answerAfter } from '../support/held-rows.js';
import {
  type Account,
  aCode,
  anAccount,
  anAccountOf,
  anEmail,
  anOrg,
  anOrgOf,
  aPassword,
  byCode,
  exchange,
  isAlive,
  logIn,
} from '../support/personas.js';
import { aRefreshableLogin, refresh, refreshed } from '../support/refreshing.js';
import { startService } from '../support/service.js';

const PASSWORD = '/api/me/password';
const SET_HASH = 'UPDATE users SET password_hash = ? WHERE id = ?';

const service = await startService();

let ada: Account;
beforeEach(async () => {
  ada = await anAccount(service, 'ada');
});

describe('a change of the password', () => {
  const login = (password: string) => logIn(service, { email: ada.email, password });
  const lives = ({ token }: { token: string }): Promise<boolean> => isAlive(ada.as(token));
  const change = (newPassword: unknown, currentPassword: unknown = ada.password, by = ada) =>
    by.put(PASSWORD, { currentPassword, newPassword });
  async function row(): Promise<Record<string, unknown>> {
    const [found] = await service.db.query('SELECT * FROM users WHERE id = ?', [ada.id]);
    return found!;
  }

  it('lets the new one in and not the old one, and ends every session but its own', async () => {
    const desktop = await aRefreshableLogin(service, ada);
    const other = await aRefreshableLogin(service, ada);
    const passedOn = await byCode(service, ada);
    const codes = [await aCode(ada.as(desktop.token)), await aCode(ada)];
    const newPassword = aPassword();
    const answer = await change(newPassword, ada.password, ada.as(desktop.token));
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await login(ada.password)).toMatchObject(invalidCredentials);
    expect((await login(newPassword)).status).toBe(200);
    const alive = await Promise.all([desktop, ada, other, passedOn].map(lives));
    expect(alive).toEqual([true, false, false, false]);
    expect((await refresh(service, other.refreshToken)).status).toBe(401);
    expect(await lives(await refreshed(service, desktop.refreshToken))).toBe(true);
    for (const code of codes) expect((await exchange(service, code)).status).toBe(400);
  });

  it('is told with the account, and raises its revision by one', async () => {
    const account = () => ada.get<{ passwordChangedAt: string | null }>('/api/me/account');
    expect((await account()).body.passwordChangedAt).toBeNull();
    const before = await row();
    await change(aPassword());
    const after = await row();
    expect(after['revision']).toBe(Number(before['revision']) + 1);
    expect((await account()).body.passwordChangedAt).toBe(
      new Date(Number(after['password_changed_at'])).toISOString(),
    );
  });

  it('needs the current one, exactly, and changes nothing without it', async () => {
    const before = await row();
    const near = [`${ada.password} `, ada.password.toUpperCase(), ada.password.slice(1)];
    for (const wrong of [aPassword(), ...near])
      expect(await change(aPassword(), wrong)).toMatchObject(wrongPassword);
    expect(await row()).toEqual(before);
    expect(await isAlive(ada)).toBe(true);
  });

  it('takes the passwords in the form that registration and login take', async () => {
    const composed = 'Ångström läuft mit';
    expect((await change(composed.normalize('NFD'))).status).toBe(200);
    expect((await login(composed.normalize('NFC'))).status).toBe(200);
    expect((await change(aPassword(), composed.normalize('NFD'))).status).toBe(200);
  });

  it.each([
    ['too short', 'short'],
    ['too long', 'x'.repeat(129)],
    ['broken text', `broken\ud800text`],
    ['no text', 12_345_678],
    ['missing', undefined],
  ])('refuses a new one that is %s', async (_what, newPassword) => {
    expect(await change(newPassword)).toMatchObject(invalidFields('newPassword'));
    expect((await login(ada.password)).status).toBe(200);
  });

  it('refuses the e-mail as the new one, whatever e-mail the body has', async () => {
    const grace = await anAccountOf(service, anEmail('grace-hopper'));
    for (const newPassword of [grace.email, grace.email.split('@')[0]!]) {
      const body = { currentPassword: grace.password, newPassword, email: 'other@example.com' };
      expect(await grace.put(PASSWORD, body)).toMatchObject(invalidFields('newPassword'));
    }
  });

  it.each([[null], [''], [0], [[]], [{}]])('refuses %j as the current one', async (currentPassword) => {
    expect(await ada.put(PASSWORD, { newPassword: aPassword() })).toMatchObject(
      invalidFields('currentPassword'),
    );
    expect(await change(aPassword(), currentPassword)).toMatchObject(invalidFields('currentPassword'));
  });

  it.each([
    ['is made where a login re-hashed the same password meanwhile', 'the same', 200],
    ['is refused where another one was set meanwhile', 'another', 403],
  ])('%s', async (_what, stored, status) => {
    const password = stored === 'the same' ? ada.password : aPassword();
    const email = anEmail();
    await service.anyone.post('/api/auth/register', { email, password });
    const [rehashed] = await service.db.query('SELECT password_hash FROM users WHERE email = ?', [email]);
    const values = [String(rehashed!['password_hash']), ada.id];
    const answer = await answerAfter(
      service,
      (held) => held.write(SET_HASH, values),
      () => change(aPassword()),
    );
    expect(answer.status).toBe(status);
    expect(await isAlive(ada)).toBe(true);
    expect((await login(password)).status).toBe(status === 200 ? 401 : 200);
  });

  it.each([
    ['by an end of all', 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?'],
    ['by itself', 'UPDATE sessions SET revoked_at = 1 WHERE user_id = ?'],
  ])('whose session is ended meanwhile, %s, changes nothing', async (_how, end) => {
    const answer = await answerAfter(
      service,
      (held) => held.write(end, [ada.id]),
      () => change(aPassword()),
    );
    expect(answer).toMatchObject(invalidToken);
    expect((await login(ada.password)).status).toBe(200);
  });

  it('by two sessions at once is made by one, and the other one has ended', async () => {
    const other = await aRefreshableLogin(service, ada);
    const answers = await Promise.all([
      change(aPassword()),
      change(aPassword(), ada.password, ada.as(other.token)),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await Promise.all([ada, other].map(lives))).toEqual(answers.map(({ status }) => status === 200));
  });
});

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
    const opened = await byCode(service, member);
    const code = await aCode(member);
    const answer = await remove(member);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(await rowsOf(member)).toEqual([0, 0, 0]);
    const sessions = [member, member.as(login.token), opened];
    expect(await Promise.all(sessions.map(isAlive))).toEqual([false, false, false]);
    expect((await refresh(service, login.refreshToken)).status).toBe(401);
    expect((await exchange(service, code)).status).toBe(400);
    expect(await logIn(service, member)).toMatchObject(invalidCredentials);
    const members = await owner.get<{ members: { userId: string }[] }>(`/api/orgs/${org.id}/members`);
    expect(members.body.members.map(({ userId }) => userId)).not.toContain(member.id);
    const sql = 'SELECT type, actor_id, ip FROM events WHERE user_id = ? ORDER BY id';
    const events = await service.db.query(sql, [member.id]);
    const types = ['account.deleted', 'session.ended', 'member.removed'];
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(types));
    expect(events.filter(({ actor_id: actor, ip }) => actor === member.id && ip !== null)).toEqual([]);
  });

  it('needs the password, and changes nothing without it', async () => {
    for (const wrong of [aPassword(), `${ada.password} `])
      expect(await remove(ada, wrong)).toMatchObject(wrongPassword);
    for (const none of [undefined, null, '', 0, {}])
      expect(await ada.delete('/api/me', { password: none })).toMatchObject(invalidFields('password'));
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

  it('locks an organization that added the user meanwhile', async () => {
    const { org } = await anOrg(service);
    const revision = async (from: string): Promise<number> =>
      Number((await service.db.query(`SELECT revision FROM ${from}`, [org.id]))[0]!['revision']);
    const before = await revision('orgs WHERE id = ?');
    const answer = await answerAfter(
      service,
      async (held) => {
        await held.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [org.id]);
        await held.write('UPDATE users SET revision = revision + 1 WHERE id = ?', [ada.id]);
        const columns = 'org_id, user_id, email, role, joined_at';
        const values = [org.id, ada.id, ada.email, 'member', Date.now()];
        await held.write(`INSERT INTO members (${columns}) VALUES (?, ?, ?, ?, ?)`, values);
      },
      () => remove(ada),
    );
    expect(answer.status, answer.text).toBe(200);
    expect(await rowsOf(ada)).toEqual([0, 0, 0]);
    const removal =
      "(SELECT org_revision AS revision FROM events WHERE org_id = ? AND type = 'member.removed') e";
    expect([await revision('orgs WHERE id = ?'), await revision(removal)]).toEqual([before + 2, before + 2]);
  });

  it('is refused where another password was set meanwhile', async () => {
    const grace = await anAccount(service, 'grace');
    const [other] = await service.db.query('SELECT password_hash FROM users WHERE id = ?', [grace.id]);
    const values = [String(other!['password_hash']), ada.id];
    expect(
      await answerAfter(
        service,
        (held) => held.write(SET_HASH, values),
        () => remove(ada),
      ),
    ).toMatchObject(wrongPassword);
    expect(await rowsOf(ada)).toEqual([1, 1, 0]);
  });
});

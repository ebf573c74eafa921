import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { invalidEmailCode, invalidFields, invalidToken } from '../support/expected.js';
import { MailServer, untilMailsAreDecided } from '../support/mail-server.js';
import { NO_LIMITS, startOwnService } from '../support/service.js';
import { type Account, anAccount, anEmail, aPassword, logIn } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';

const FORGOT = '/api/auth/password/forgot';
const RESET = '/api/auth/password/reset';

const mailServer = await MailServer.start();
const MAIL_FROM = 'Accounts <no-reply@accounts.example>';
const service = await startOwnService({
  env: { ...NO_LIMITS, TRUST_PROXY: '127.0.0.1', ...mailServer.env, MAIL_FROM },
});
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

describe('a forgotten password', () => {
  const forgot = (email: string) => service.anyone.post(FORGOT, { email });
  const reset = (email: string, code: unknown, newPassword = aPassword()) =>
    service.anyone.post(RESET, { email, code, newPassword });
  const login = ({ email }: Account, password: string) => logIn(service, { email, password });

  async function aMailedCode({ email }: Pick<Account, 'email'>): Promise<string> {
    const before = mailServer.to(email).length;
    expect(await forgot(email)).toMatchObject({ status: 202, body: { ok: true } });
    const { code } = await mailServer.next(email, before + 1);
    service.installation.secrets.note(code);
    service.installation.secrets.note(code!.replace('-', ''));
    return code!;
  }

  it('is set anew with the code from the mail; every session ends, the e-mail is verified, a notice is mailed', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aMailedCode(ada);
    const known = await knownEvents(service.db);
    const password = aPassword();

    expect(await reset(ada.email, code, password)).toMatchObject({ status: 200, body: { ok: true } });

    expect(await ada.get('/api/me')).toMatchObject(invalidToken);
    expect((await login(ada, ada.password)).status).toBe(401);
    expect((await login(ada, password)).status).toBe(200);
    const about = { actor_type: 'system', actor_id: null, org_id: null, user_id: ada.id, reason: null };
    expect((await eventsSince(service.db, known)).filter(({ type }) => type !== 'session.started')).toEqual([
      { ...about, type: 'account.email_verified', data: {} },
      { ...about, type: 'account.password_changed', data: {} },
      { ...about, type: 'session.ended', data: { reason: 'password_changed', all: true, epoch: 1 } },
    ]);
    const sql = 'SELECT email_verified_at, password_changed_at, revision FROM users WHERE id = ?';
    const aTime = expect.any(Number);
    const changed = { email_verified_at: aTime, password_changed_at: aTime, revision: 3 };
    expect(await service.db.query(sql, [ada.id])).toEqual([changed]);
    const notice = await mailServer.next(ada.email, 2);
    expect(notice).toMatchObject({ subject: 'Your password was changed', code: undefined });
    expect(notice.text).toContain(ada.email);
  });

  it('takes the code however it is typed', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    const typed = ` ${code.toLowerCase().replaceAll('0', 'o').replaceAll('1', 'l').replace('-', ' ')} `;
    expect((await reset(ada.email, typed)).status).toBe(200);
  });

  it('takes no code that a newer one has replaced', async () => {
    const ada = await anAccount(service);
    const first = await aMailedCode(ada);
    const second = await aMailedCode(ada);
    expect(await reset(ada.email, first)).toMatchObject(invalidEmailCode);
    expect((await reset(ada.email, second)).status).toBe(200);
  });

  it('takes no code from before the user changed the password', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    const [chosen, stolen] = [aPassword(), aPassword()];
    const change = { currentPassword: ada.password, newPassword: chosen };
    expect((await ada.put('/api/me/password', change)).status).toBe(200);
    expect(await reset(ada.email, code, stolen)).toMatchObject(invalidEmailCode);
    expect((await login(ada, stolen)).status).toBe(401);
    expect((await login(ada, chosen)).status).toBe(200);
  });

  it('takes no code after its time', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    const sql = 'UPDATE email_codes SET expires_at = ? WHERE subject = ?';
    await service.db.query(sql, [Date.now(), ada.email]);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  it('takes no code of somebody else, none of another purpose, and none of a disabled account', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const code = await aMailedCode(ada);
    await aMailedCode(grace);
    expect(await reset(grace.email, code)).toMatchObject(invalidEmailCode);
    expect(await ada.post('/api/me/email/verify', { code })).toMatchObject(invalidEmailCode);
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [ada.id]);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  it('takes the right code at the 50th attempt, and at none after it', async () => {
    const ada = await anAccount(service);
    const code = await aMailedCode(ada);
    const after = (tries: number) =>
      service.db.query('UPDATE email_codes SET tries = ? WHERE subject = ?', [tries, ada.email]);
    await after(50);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
    await after(49);
    expect((await reset(ada.email, code)).status).toBe(200);
  });

  it('mails nothing to unknown e-mails and disabled accounts, and answers the same', async () => {
    const [known, disabled] = [await anAccount(service), await anAccount(service)];
    await service.db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [disabled.id]);
    const unknown = anEmail();
    const answers = [await forgot(unknown), await forgot(disabled.email), await forgot(known.email)];
    for (const { status, text, headers } of answers) {
      expect({ status, text }).toEqual({ status: 202, text: '{"ok":true}' });
      expect([...headers.keys()]).toEqual([...answers[0]!.headers.keys()]);
    }
    await mailServer.next(known.email);
    await untilMailsAreDecided(service);
    expect([...mailServer.to(unknown), ...mailServer.to(disabled.email)]).toEqual([]);
    // The place of a code stays, so that the next request takes as long.
    const sql = 'SELECT subject FROM email_codes WHERE subject IN (?, ?)';
    expect(await service.db.query(sql, [unknown, disabled.email])).toHaveLength(2);
  });

  const untilDecided = ({ email }: Account) => untilMailsAreDecided(service, email);
  const forgotFrom = (address: string, { email }: Account) =>
    service.anyone.with({ 'x-forwarded-for': address }).post(FORGOT, { email });

  /** As if strangers had got so many codes mailed there, the last of them so many minutes ago. */
  async function strangersAsked({ email }: Account, count: number, minutesAgo: number): Promise<void> {
    const hex = (Date.now() - minutesAgo * 60_000).toString(16).padStart(12, '0');
    for (let number = 0; number < count; number += 1) {
      const random = String(Math.floor(Math.random() * 1e11)).padStart(12, '0');
      await service.db.query(
        `INSERT INTO mails (id, kind, recipient, code_id, sender_id, state, created_at, next_attempt_at)
          VALUES (?, 'password_reset', ?, 'x', ?, 'sent', 1, 1)`,
        [`${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${random}`, email, `198.51.100.${number}`],
      );
    }
  }

  it('mails 5 codes a day for one address of a client, and the last one goes on working', async () => {
    const ada = await anAccount(service);
    let code = '';
    for (let sent = 0; sent < 5; sent += 1) code = await aMailedCode(ada);
    expect((await forgot(ada.email)).status).toBe(202);
    await untilDecided(ada);
    expect(mailServer.to(ada.email)).toHaveLength(5);
    expect((await reset(ada.email, code)).status).toBe(200);
  });

  it('mails a code to the owner, however many strangers ask: to a known address at once', async () => {
    const ada = await anAccount(service);
    await strangersAsked(ada, 40, 1);
    // She registered from there.
    expect((await reset(ada.email, await aMailedCode(ada))).status).toBe(200);
  });

  it('and elsewhere once the last code is 15 minutes old, so that one is valid at any time', async () => {
    const [early, late] = [await anAccount(service), await anAccount(service)];
    await strangersAsked(early, 10, 14);
    await strangersAsked(late, 40, 16);
    await forgotFrom('203.0.113.7', early);
    await forgotFrom('203.0.113.7', late);
    expect((await reset(late.email, (await mailServer.next(late.email)).code)).status).toBe(200);
    await untilDecided(early);
    expect(mailServer.to(early.email)).toEqual([]);
  });

  it('makes 10 codes for any number of strangers at the same moment, and still one for the owner', async () => {
    const ada = await anAccount(service);
    const strangers = Array.from({ length: 30 }, (_, number) => `203.0.113.${number}`);
    await Promise.all(strangers.map((address) => forgotFrom(address, ada)));
    await untilDecided(ada);
    // Of them, those that a newer code had replaced were not mailed.
    const sql = 'SELECT id FROM mails WHERE recipient = ? AND code_id IS NOT NULL';
    const rows = await service.db.query(sql, [ada.email]);
    expect(rows.length).toBeLessThanOrEqual(10);
    expect(mailServer.to(ada.email).length).toBeGreaterThan(0);
    expect((await reset(ada.email, await aMailedCode(ada))).status).toBe(200);
  });

  it('counts the time of a code from the request, keeps no client address of a deleted account', async () => {
    const ada = await anAccount(service);
    const expiresAt = Date.now() + 300_000;
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, sender_id, state, created_at, next_attempt_at, expires_at)
        VALUES (?, 'password_reset', ?, '192.0.2.1', 'waiting', ?, 0, ?)`,
      [randomUUIDv7(), ada.email, Date.now() - 600_000, expiresAt],
    );
    await mailServer.next(ada.email);
    const place = async () => {
      const sql = 'SELECT expires_at, purge_at FROM email_codes WHERE subject = ?';
      return (await service.db.query(sql, [ada.email]))[0]!;
    };
    expect(await place()).toMatchObject({ expires_at: expiresAt });

    const before = Date.now();
    await aMailedCode(ada);
    const { expires_at: fresh, purge_at: purgeAt } = await place();
    const minutes = (Number(fresh) - before) / 60_000;
    expect(minutes).toBeGreaterThanOrEqual(15);
    expect(minutes).toBeLessThan(30);
    expect(Number(purgeAt)).toBeGreaterThan(Number(fresh));

    await untilDecided(ada);
    expect((await ada.delete('/api/me', { password: ada.password })).status).toBe(200);
    const sql = 'SELECT DISTINCT sender_id FROM mails WHERE recipient = ?';
    expect(await service.db.query(sql, [ada.email])).toEqual([{ sender_id: null }]);
  });

  const RIGHT = { email: 'ada@example.com', code: '0000000000', newPassword: 'correct horse battery' };
  it.each([
    [{}, ['email', 'code', 'newPassword']],
    [{ ...RIGHT, code: 0 }, ['code']],
    [{ ...RIGHT, code: ['0000000000'] }, ['code']],
    [{ ...RIGHT, email: { $gt: '' } }, ['email']],
    [{ ...RIGHT, newPassword: 'short' }, ['newPassword']],
    [{ ...RIGHT, newPassword: 'ada@example.com' }, ['newPassword']],
    [{ ...RIGHT, newPassword: 'too few' }, ['newPassword']],
  ])('refuses %j', async (body, fields) => {
    expect(await service.anyone.post(RESET, body)).toMatchObject(invalidFields(...fields));
  });

  it.each(['', '0000', 'x'.repeat(10_000), '0000000000', 'no code', "' OR 1=1 --", '\u0000'])(
    'answers the code %j as any wrong one',
    async (code) => {
      const ada = await anAccount(service);
      await aMailedCode(ada);
      const answers = [await reset(ada.email, code), await reset(anEmail(), code)];
      for (const answer of answers) expect(answer).toMatchObject(invalidEmailCode);
      const [one, other] = answers.map(({ text }) => text.replace(/"requestId":"[^"]+"/, ''));
      expect(one).toBe(other);
    },
  );
});

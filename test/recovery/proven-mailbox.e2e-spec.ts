import { afterAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { aPendingSecret, appCode, protect, SECOND_FACTOR } from '../support/second-factor.js';
import { invalidEmailCode, secondFactorRequired, verifiedEmailRequired } from '../support/expected.js';
import { verified } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { NO_LIMITS, startOwnService } from '../support/service.js';
import { makeOperator } from '../support/operators.js';
import { type Account, anAccount, anAccountOf, anEmail, aPassword, logIn } from '../support/personas.js';
import { eventsSince, knownEvents } from '../support/feed.js';

const REASON = { reason: 'a test' };

const mailServer = await MailServer.start();
const service = await startOwnService({ env: { ...NO_LIMITS, ...mailServer.env } });
const { account: operator } = await protect(service, await anAccount(service, 'operator'));
await makeOperator(service, operator);
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

const reset = (email: string, code: string, newPassword = aPassword()) =>
  service.anyone.post('/api/auth/password/reset', { email, code, newPassword });
const operate = ({ id }: Account, operation: string) =>
  operator.post<{ code: string }>(`/api/operators/users/${id}/${operation}`, REASON);
const command = (...parameters: string[]) =>
  accounts(service.installation, parameters, { env: mailServer.env });

async function aMailedCode(email: string): Promise<string> {
  const before = mailServer.to(email).length;
  expect((await service.anyone.post('/api/auth/password/forgot', { email })).status).toBe(202);
  return (await mailServer.next(email, before + 1)).code!;
}

async function aHandedOutCode(user: Account): Promise<string> {
  const { status, body, text } = await operate(user, 'reset-code');
  expect(status, text).toBe(201);
  return body.code;
}

/** An email is queued in the transaction of the change, so its row is there once the change is answered. */
const queuedFor = async ({ email }: Pick<Account, 'email'>): Promise<unknown[]> =>
  (await service.db.query('SELECT kind FROM mails WHERE recipient = ? ORDER BY id', [email])).map(
    ({ kind }) => kind,
  );

describe('a second factor and the mailbox', () => {
  const rowsOf = async ({ id }: Account) => {
    const [row] = await service.db.query(
      `SELECT (SELECT COUNT(*) FROM second_factors WHERE user_id = u.id) AS factors,
        (SELECT COUNT(*) FROM recovery_codes WHERE user_id = u.id) AS codes,
        operator_since AS since FROM users u WHERE id = ?`,
      [id],
    );
    return { factors: Number(row!['factors']), codes: Number(row!['codes']), since: row!['since'] };
  };

  it('the first reset by email removes the factor and the grant of a stranger who registered the address', async () => {
    const stranger = await anAccount(service, 'victim');
    await protect(service, stranger);
    await makeOperator(service, stranger);
    const code = await aMailedCode(stranger.email);
    const known = await knownEvents(service.db);
    const password = aPassword();
    expect((await reset(stranger.email, code, password)).status).toBe(200);
    expect((await logIn(service, { email: stranger.email, password })).status).toBe(200);
    expect(await rowsOf(stranger)).toEqual({ factors: 0, codes: 0, since: null });
    const events = (await eventsSince(service.db, known)).filter(({ type }) => type !== 'session.started');
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['account.email_verified', {}],
      ['account.operator_revoked', {}],
      ['account.password_changed', {}],
      ['account.second_factor_removed', {}],
      ['session.ended', { reason: 'password_changed', all: true, epoch: 2 }],
    ]);
    const mails = ['password_reset', 'second_factor_removed', 'password_changed'];
    expect(await queuedFor(stranger)).toEqual(mails);
  });

  it('a reset leaves the factor of a verified account on, and so does a code from an operator', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    await verified(service.db, ada);
    const password = aPassword();
    for (const user of [ada, grace]) await protect(service, user);
    expect((await reset(ada.email, await aMailedCode(ada.email), password)).status).toBe(200);
    expect((await reset(grace.email, await aHandedOutCode(grace), password)).status).toBe(200);
    for (const user of [ada, grace]) {
      expect(await logIn(service, { email: user.email, password })).toMatchObject(secondFactorRequired);
      expect(await rowsOf(user)).toMatchObject({ factors: 1, codes: 10 });
    }
  });

  it('a factor is confirmed by a user with a verified email, since email can be sent', async () => {
    const ada = await anAccount(service, 'ada');
    const secret = await aPendingSecret(ada);
    const confirm = () => ada.post(`${SECOND_FACTOR}/confirm`, { code: appCode(secret) });
    const refused = await confirm();
    expect(refused).toMatchObject(verifiedEmailRequired);
    expect(refused.text).toContain('POST /api/me/email/verification');
    expect((await ada.post('/api/me/email/verification')).status).toBe(202);
    const { code } = await mailServer.next(ada.email);
    expect((await ada.post('/api/me/email/verify', { code })).status).toBe(200);
    expect((await confirm()).status).toBe(200);
  });

  it('an account with a factor keeps a verified email', async () => {
    const ada = await anAccount(service, 'ada');
    await verified(service.db, ada);
    await protect(service, ada);
    const refused = await command('users', 'set-email', ada.email, anEmail());
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^refused: .*--verified.* \(verified_email_required\)\n$/);
    expect((await command('users', 'set-email', ada.email, anEmail(), '--verified')).code).toBe(0);
  });
});

describe('a code that an operator hands out', () => {
  it('is void once the account has another email, at either address', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    const email = anEmail('after');
    expect((await ada.put('/api/me/email', { email, password: ada.password })).status).toBe(202);
    const change = (await mailServer.next(email)).code;
    expect((await ada.post('/api/me/email/verify', { code: change })).status).toBe(200);
    const next = await anAccountOf(service, ada.email);
    for (const address of [ada.email, email])
      expect(await reset(address, code)).toMatchObject(invalidEmailCode);
    expect((await logIn(service, next)).status).toBe(200);
  });

  it('is of one account, whose address another one may have got without a change that voids it', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const code = await aHandedOutCode(ada);
    const rename = 'UPDATE users SET email = ? WHERE id = ?';
    await service.db.query(rename, [anEmail(), ada.id]);
    await service.db.query(rename, [ada.email, grace.id]);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  it('is void once every session of the account has ended', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    expect((await operate(ada, 'end-sessions')).status).toBe(200);
    expect(await reset(ada.email, code)).toMatchObject(invalidEmailCode);
  });

  it('stays valid when a stranger asks for one by email', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    const mailed = await aMailedCode(ada.email);
    expect((await reset(ada.email, code)).status).toBe(200);
    expect(await reset(ada.email, mailed)).toMatchObject(invalidEmailCode);
  });
});

describe('an email that nobody has verified', () => {
  const setPassword = ({ id }: Account) => command('users', 'set-password', id, '--generate');

  it('gets no notice, and a verified one gets each', async () => {
    const [stranger, ada] = [await anAccount(service, 'victim'), await anAccount(service, 'ada')];
    await verified(service.db, ada);
    for (const user of [stranger, ada]) {
      const newPassword = aPassword();
      const change = { currentPassword: user.password, newPassword };
      expect((await user.put('/api/me/password', change)).status).toBe(200);
      const wanted = { email: anEmail(), password: newPassword };
      expect((await user.put('/api/me/email', wanted)).status).toBe(202);
      await aHandedOutCode(user);
      await protect(service, user);
      expect((await operate(user, 'remove-second-factor')).status).toBe(200);
      expect((await setPassword(user)).code).toBe(0);
      expect((await command('users', 'set-email', user.id, anEmail())).code).toBe(0);
    }

    expect(await queuedFor(ada)).toEqual([
      'password_changed',
      'email_change_asked',
      'reset_code_issued',
      'second_factor_removed',
      'password_changed',
      'email_changed',
    ]);
    expect(await queuedFor(stranger)).toEqual([]);
  });

  it('shows its user none of the emails to that address', async () => {
    const email = anEmail('victim');
    await service.db.query(
      `INSERT INTO mails (id, kind, recipient, state, created_at, next_attempt_at)
        VALUES ('01900000-0000-7000-8000-000000000000', 'invitation', ?, 'sent', 1, 0)`,
      [email],
    );
    const ada = await anAccountOf(service, email);
    await aMailedCode(email);
    const exported = async () => {
      const { body } = await ada.get<{ mails: { kind: string }[] }>('/api/me/export');
      return body.mails.map(({ kind }) => kind);
    };
    expect(await exported()).toEqual([]);
    await verified(service.db, ada);
    expect(await exported()).toEqual(['password_reset']);
  });
});

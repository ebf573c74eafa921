import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accounts } from '../support/accounts-command.js';
import { invalidCode } from '../support/expected.js';
import { verified } from '../support/inviting.js';
import { MailServer } from '../support/mail-server.js';
import { makeOperator } from '../support/operators.js';
import { type Account, anAccount, anAccountOf, anEmail, aPassword } from '../support/personas.js';
import { protect } from '../support/second-factor.js';
import { type Instance, startOwnService } from '../support/service.js';

const LIMITS_OFF = {
  RATE_LIMIT_REGISTER: 'off',
  RATE_LIMIT_LOGIN: 'off',
  RATE_LIMIT_FORGOT: 'off',
  RATE_LIMIT_CODE: 'off',
};
const REASON = { reason: 'a test' };

let mailServer: MailServer;
let service: Instance;
let operator: Account;

beforeAll(async () => {
  mailServer = await MailServer.start();
  service = await startOwnService({ env: { ...LIMITS_OFF, ...mailServer.env } });
  operator = (await protect(service, await anAccount(service, 'operator'))).account;
  await makeOperator(service, operator);
});
afterAll(async () => {
  await service.stop();
  await mailServer.stop();
});

const reset = (email: string, code: string, newPassword = aPassword()) =>
  service.anyone.post('/api/auth/password/reset', { email, code, newPassword });
const login = (email: string, password: string) =>
  service.anyone.post('/api/auth/login', { email, password });
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

describe('a code that an operator hands out', () => {
  it('is void once the account has another email, at either address', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    const email = anEmail('after');
    expect((await ada.put('/api/me/email', { email, password: ada.password })).status).toBe(202);
    const change = (await mailServer.next(email)).code;
    expect((await ada.post('/api/me/email/verify', { code: change })).status).toBe(200);
    const next = await anAccountOf(service, ada.email);

    for (const address of [ada.email, email]) expect(await reset(address, code)).toMatchObject(invalidCode);
    expect((await login(next.email, next.password)).status).toBe(200);
  });

  it('is of one account, whose address another one may have got without a change that voids it', async () => {
    const [ada, grace] = [await anAccount(service, 'ada'), await anAccount(service, 'grace')];
    const code = await aHandedOutCode(ada);
    const rename = 'UPDATE users SET email = ? WHERE id = ?';
    await service.db.query(rename, [anEmail(), ada.id]);
    await service.db.query(rename, [ada.email, grace.id]);

    expect(await reset(ada.email, code)).toMatchObject(invalidCode);
  });

  it('is void once every session of the account has ended', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    expect((await operate(ada, 'end-sessions')).status).toBe(200);

    expect(await reset(ada.email, code)).toMatchObject(invalidCode);
  });

  it('stays valid when a stranger asks for one by email', async () => {
    const ada = await anAccount(service, 'ada');
    const code = await aHandedOutCode(ada);
    const mailed = await aMailedCode(ada.email);

    expect((await reset(ada.email, code)).status).toBe(200);
    expect(await reset(ada.email, mailed)).toMatchObject(invalidCode);
  });
});

describe('an email that nobody has verified', () => {
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
      expect((await command('users', 'set-email', user.id, anEmail())).code).toBe(0);
    }

    expect(await queuedFor(ada)).toEqual([
      'password_changed',
      'email_change_asked',
      'reset_code_issued',
      'second_factor_removed',
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

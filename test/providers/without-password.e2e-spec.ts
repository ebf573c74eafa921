import { afterAll, describe, expect, it } from 'vitest';
import { type Answer, theOneOf } from '../support/answer.js';
import { atOnce } from '../support/at-once.js';
import {
  insufficientUserAuthentication,
  invalidCredentials,
  invalidFields,
  invalidSecondFactorCode,
  directSessionRequired,
  wrongPassword,
} from '../support/expected.js';
import { type Account, anAccount, anEmail, aPassword, byCode, logIn } from '../support/personas.js';
import { protect, SECOND_FACTOR } from '../support/second-factor.js';
import { startService } from '../support/service.js';

const MINUTE_MS = 60_000;

const service = await startService({
  env: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'no-reply@example.com' },
});
afterAll(() => service.stop());

interface OfSession {
  amr?: string;
  agoMs?: number;
}

async function openedBy(user: Account, { amr = 'fed', agoMs = 0 }: OfSession = {}): Promise<Account> {
  const opened = 'UPDATE sessions SET amr = ?, auth_time = ? WHERE user_id = ?';
  await service.db.query(opened, [amr, Date.now() - agoMs, user.id]);
  return user;
}

/** As a login at a provider creates them. */
async function aUserWithoutPassword(session?: OfSession): Promise<Account> {
  const user = await openedBy(await anAccount(service, 'ada'), session);
  await service.db.query("UPDATE users SET password_hash = '!' WHERE id = ?", [user.id]);
  return user;
}

type Proof = Record<'password', string> | undefined;
type Change = (user: Account, proof?: Proof) => Promise<Answer>;

const CHANGES: [name: string, done: number, field: string, change: Change][] = [
  [
    'a change of the password',
    200,
    'currentPassword',
    (user, proof) =>
      user.put('/api/me/password', {
        newPassword: aPassword(),
        ...(proof && { currentPassword: proof.password }),
      }),
  ],
  [
    'a change of the email',
    202,
    'password',
    (user, proof) => user.put('/api/me/email', { email: anEmail('new'), ...proof }),
  ],
  ['a second factor', 201, 'password', (user, proof) => user.post('/api/me/second-factor', { ...proof })],
  ['a deletion', 200, 'password', (user, proof) => user.delete('/api/me', { ...proof })],
];

describe.each(CHANGES)('%s', (_, done, field, change) => {
  it('needs no password of a user who has none, after a recent login at a provider', async () => {
    expect((await change(await aUserWithoutPassword({ agoMs: 9 * MINUTE_MS }))).status).toBe(done);
  });

  it.each([
    ['a login at a provider more than 10 minutes ago', { agoMs: 11 * MINUTE_MS }],
    ['a login by password', { amr: 'pwd' }],
  ])('asks a user without a password for a newer login after %s', async (_what, session) => {
    const refused = await change(await aUserWithoutPassword(session));
    expect(refused).toMatchObject(insufficientUserAuthentication);
    expect(refused.headers.get('www-authenticate')).toMatch(
      /error="insufficient_user_authentication", max_age=600$/,
    );
  });

  it('refuses a session that a one-time code of such a login opened', async () => {
    const opened = await byCode(service, await aUserWithoutPassword());
    expect(await change(opened)).toMatchObject(directSessionRequired);
  });

  it('refuses any password of a user who has none', async () => {
    const user = await aUserWithoutPassword();
    for (const password of ['!', user.password])
      expect(await change(user, { password })).toMatchObject(wrongPassword);
  });

  it('needs the password of a user who has one, whatever opened the session', async () => {
    const user = await openedBy(await anAccount(service, 'ada'));
    expect(await change(user)).toMatchObject(invalidFields(field));
    expect((await change(user, user)).status).toBe(done);
  });

  it('refuses an empty password, which is not the same as none', async () => {
    expect(await change(await aUserWithoutPassword(), { password: '' })).toMatchObject(invalidFields(field));
  });
});

describe.each([
  ['new recovery codes', `${SECOND_FACTOR}/recovery-codes`, { left: 10, amr: 'fed otp' }],
  ['a removal of the second factor', `${SECOND_FACTOR}/remove`, { left: 0, amr: 'fed' }],
])('%s', (_, route, done) => {
  const aProtectedUser = async (session?: OfSession) => {
    const ada = await aUserWithoutPassword();
    const { app, recoveryCodes } = await protect(service, ada);
    return { ada: await openedBy(ada, { amr: 'fed otp', ...session }), app, recoveryCodes };
  };
  const codesOf = async ({ id }: Account) => {
    const rows = await service.db.query('SELECT hash FROM recovery_codes WHERE user_id = ?', [id]);
    return rows.map(({ hash }) => hash);
  };

  it('needs a code and no password of a user who has none, after a recent login at a provider', async () => {
    const { ada, app } = await aProtectedUser({ agoMs: 9 * MINUTE_MS });
    const before = await codesOf(ada);
    expect(await ada.post(route, { code: app.wrong() })).toMatchObject(invalidSecondFactorCode);
    expect(await codesOf(ada)).toEqual(before);

    expect((await ada.post(route, { code: app.next() })).status).toBe(200);

    const codes = await codesOf(ada);
    expect(codes).toHaveLength(done.left);
    expect(codes.filter((code) => before.includes(code))).toEqual([]);
    const [session] = await service.db.query('SELECT amr FROM sessions WHERE user_id = ?', [ada.id]);
    expect(session).toEqual({ amr: done.amr });
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('asks a user without a password for a newer login, whatever code they send', async () => {
    const { ada, app, recoveryCodes } = await aProtectedUser({ agoMs: 11 * MINUTE_MS });
    const codes = await codesOf(ada);
    for (const code of [app.next(), recoveryCodes[0]])
      expect(await ada.post(route, { code })).toMatchObject(insufficientUserAuthentication);
    expect(await codesOf(ada)).toEqual(codes);
  });

  it('needs the password of a user who has one, whatever opened the session', async () => {
    const user = await anAccount(service, 'ada');
    const { app } = await protect(service, user);
    await openedBy(user, { amr: 'fed otp' });
    const code = app.next();
    expect(await user.post(route, { code })).toMatchObject(invalidFields('password'));
    expect((await user.post(route, { code, password: user.password })).status).toBe(200);
  });
});

describe('the first password', () => {
  it('is set once, logs in, and is needed from then on', async () => {
    const user = await aUserWithoutPassword();
    const newPassword = aPassword();
    const passwords = [newPassword, aPassword(), aPassword()];
    expect(await logIn(service, { email: user.email, password: newPassword })).toMatchObject(
      invalidCredentials,
    );
    const answers = await atOnce(
      passwords.map((one) => () => user.put('/api/me/password', { newPassword: one })),
    );
    const set = passwords.find((_, index) => answers[index]!.status === 200);
    theOneOf(answers, 200, invalidFields('currentPassword'));
    expect((await logIn(service, { email: user.email, password: set! })).status).toBe(200);
    expect(await user.put('/api/me/password', { newPassword })).toMatchObject(
      invalidFields('currentPassword'),
    );
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { KeyRing, keySetText, newJwk, parseKeySet, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import {
  invalidSecondFactorCode,
  invalidFields,
  lastOwner,
  rateLimited,
  secondFactorRequired,
  wrongPassword,
} from '../support/expected.js';
import { aVerifiedAccount, verified } from '../support/inviting.js';
import { startMailing } from '../support/mailing.js';
import { NO_LIMITS, type Service } from '../support/service.js';
import { type Account, anAccount, anEmail, anOrgOf, aPassword } from '../support/personas.js';
import {
  aChallenge,
  appCode,
  AuthenticatorApp,
  aWrongCode,
  challengeFor,
  enrol,
  forgetSteps,
  protect,
  type Protected,
  SECOND_FACTOR,
  secondStep,
} from '../support/second-factor.js';
import { MovableClock } from '../support/clock.js';
import { instancesInADuel } from '../support/engine.js';

type Send = (account: Account, proof: { password?: string; code?: unknown }) => Promise<Answer>;

const changePassword: Send = (account, { password = account.password, ...code }) =>
  account.put('/api/me/password', { currentPassword: password, newPassword: aPassword(), ...code });
const changeEmail: Send = (account, { password = account.password, ...code }) =>
  account.put('/api/me/email', { email: anEmail('new'), password, ...code });
const cancelChange: Send = (account, { password = account.password, ...code }) =>
  account.put('/api/me/email', { email: account.email, password, ...code });
const deleteAccount: Send = (account, { password = account.password, ...code }) =>
  account.delete('/api/me', { password, ...code });

const CHANGES: [string, Send, done: number][] = [
  ['a change of the password', changePassword, 200],
  ['a change of the e-mail', changeEmail, 202],
  ['a change of the e-mail that is called off', cancelChange, 202],
  ['the deletion of the account', deleteAccount, 200],
];

const clock = new MovableClock();
const cluster = await startMailing(
  { ...NO_LIMITS, TRUST_PROXY: '127.0.0.1', NODE_OPTIONS: clock.option },
  instancesInADuel,
);
const { service, mailServer } = cluster;

describe('a code beside the password', () => {
  const aProtectedAccount = async (): Promise<Protected> => protect(service, await anAccount(service, 'ada'));
  const usedStep = async ({ id }: Account) => {
    const sql = 'SELECT last_step AS step FROM second_factors WHERE user_id = ?';
    const [row] = await service.db.query(sql, [id]);
    return Number(row!['step']);
  };

  describe.each(CHANGES)('of %s', (_what, send, done) => {
    it('is required where the account has a second factor, once the password is right', async () => {
      const { account, app } = await aProtectedAccount();
      expect(await send(account, { password: aPassword() })).toMatchObject(wrongPassword);
      expect(await send(account, {})).toMatchObject(invalidFields('code'));
      expect(await send(account, { code: 123_456 })).toMatchObject(invalidFields('code'));
      expect(await send(account, { code: app.wrong() })).toMatchObject(invalidSecondFactorCode);
      expect(await usedStep(account)).toBe(0);
      const answer = await send(account, { code: app.next() });
      expect(answer.status, answer.text).toBe(done);
    });

    it('may be a recovery code', async () => {
      const { account, recoveryCodes } = await aProtectedAccount();
      expect((await send(account, { code: recoveryCodes[0] })).status).toBe(done);
      const sql = `SELECT actor_id AS actor, actor_session_id AS session FROM events
        WHERE user_id = ? AND type = 'account.recovery_code_used'`;
      const used = await service.db.query(sql, [account.id]);
      expect(used).toEqual([{ actor: account.id, session: expect.any(String) }]);
    });

    it('is ignored where the account has none', async () => {
      expect((await send(await anAccount(service), { code: 'whatever' })).status).toBe(done);
    });
  });

  it('works once, whatever it was sent for', async () => {
    const { account, app, recoveryCodes } = await aProtectedAccount();
    const code = app.next();
    const other = await aProtectedAccount();
    expect((await changePassword(account, { code })).status).toBe(200);
    expect(await changeEmail(account, { code, password: 'unknown by now' })).toMatchObject(wrongPassword);
    const challenge = await aChallenge(service, other.account);
    expect(await secondStep(service, challenge, code)).toMatchObject(invalidSecondFactorCode);
    const [recovery] = other.recoveryCodes;
    expect((await changeEmail(other.account, { code: recovery })).status).toBe(202);
    for (const used of [recovery, recoveryCodes[0]])
      expect(await changeEmail(other.account, { code: used })).toMatchObject(invalidSecondFactorCode);
  });

  it('is neither used up nor counted as wrong by a dry run, nor by a change that is refused', async () => {
    const { account, app } = await aProtectedAccount();
    const { password } = account;
    const code = app.next();
    for (const _ of times(12, () => 0)) {
      const dry = await account.delete('/api/me?dryRun=true', { password, code });
      expect([dry.status, dry.headers.get('dry-run')]).toEqual([200, 'true']);
    }
    const org = await anOrgOf(account);
    expect(await account.delete('/api/me', { password, code })).toMatchObject(lastOwner);
    expect(await usedStep(account)).toBe(0);
    expect((await account.delete(`/api/orgs/${org.id}`)).status).toBe(200);
    expect((await account.delete('/api/me', { password, code })).status).toBe(200);
  });

  it('counts wrong ones apart from those of logins, in dry runs too', async () => {
    const { account, app, recoveryCodes } = await aProtectedAccount();
    const { password } = account;
    for (const _ of times(10, () => 0)) {
      const answer = await account.delete('/api/me?dryRun=true', { password, code: app.wrong() });
      expect(answer).toMatchObject(invalidSecondFactorCode);
    }
    for (const [, send] of CHANGES)
      expect(await send(account, { code: app.at() })).toMatchObject(rateLimited);
    expect((await secondStep(service, await aChallenge(service, account), app.next())).status).toBe(200);
    expect((await deleteAccount(account, { code: recoveryCodes[0] })).status).toBe(200);
  });

  it('is asked for at the login after a reset of the password, which opens nothing', async () => {
    const { account, recoveryCodes } = await aProtectedAccount();
    const { email } = await verified(service.db, account);
    await service.anyone.post('/api/auth/password/forgot', { email });
    const { code } = await mailServer.next(email);
    const newPassword = aPassword();
    const reset = await service.anyone.post('/api/auth/password/reset', { email, code, newPassword });
    expect(reset.status, reset.text).toBe(200);
    const login = { email, password: newPassword };
    expect(await service.anyone.post('/api/auth/login', login)).toMatchObject(secondFactorRequired);
    expect((await secondStep(service, await aChallenge(service, login), recoveryCodes[0])).status).toBe(200);
  });
});

describe('a service that has not read a new key yet', () => {
  // Another instance reads a new key up to a second earlier, and encrypts with it.
  it.each<[string, (one: Protected, challenge: string) => Promise<{ status: number }>]>([
    ['a login', ({ app }, challenge) => secondStep(service, challenge, app.next())],
    ['a change of the password', ({ account, app }) => changePassword(account, { code: app.next() })],
  ])('decrypts for %s what was encrypted with it', async (_what, use) => {
    const account = await anAccount(service);
    const file = service.installation.env['JWT_KEYS_FILE']!;
    const before = await readFile(file, 'utf8');
    await writeFile(file, keySetText([newJwk(), ...parseKeySet(before)]));
    const one = await protect(service, account);
    const known = new KeyRing(readKeySet(before));
    expect((await use(one, await challengeFor(service, account.id, { keys: known }))).status).toBe(200);
  });
});

const WINDOW_MS = 15 * 60_000;
const RIGHT_CODES = 16;

it('right codes at once are accepted after nine wrong ones, and the tenth wrong one sends one notice', async () => {
  const ada = await aVerifiedAccount(service, 'ada');
  const { secret } = await enrol(ada);
  await forgetSteps(service, ada);
  const remove = (on: Service, code: string) =>
    ada.at(on).delete('/api/me?dryRun=true', { password: ada.password, code });
  for (const _ of times(9, () => 0))
    expect(await remove(service, aWrongCode(secret))).toMatchObject(invalidSecondFactorCode);
  const code = appCode(secret);
  const answers = await atOnce(
    times(RIGHT_CODES, (place) => () => remove(cluster.instances[place % cluster.instances.length]!, code)),
  );
  expect(answers.map(({ status }) => status)).toEqual(times(RIGHT_CODES, () => 200));
  expect(await remove(service, aWrongCode(secret))).toMatchObject(invalidSecondFactorCode);
  for (const on of cluster.instances) expect(await remove(on, code)).toMatchObject(rateLimited);
  await mailServer.next(ada.email, 2);
  const subjects = mailServer.to(ada.email).map(({ subject }) => subject);
  expect(subjects.filter((subject) => subject.includes('wrong codes'))).toHaveLength(1);
});

const GUESSES: [string, (account: Account, code: string) => Promise<Answer>][] = [
  ['of logins', async (account, code) => secondStep(service, await aChallenge(service, account), code)],
  [
    'of a user who is signed in',
    (account, code) => account.post(`${SECOND_FACTOR}/recovery-codes`, { password: account.password, code }),
  ],
];

it.each(GUESSES)(
  'ten wrong codes %s are all that an account takes in any 15 minutes',
  async (_whose, guess) => {
    const { account, app } = await protect(service, await anAccount(service, 'ada'));
    const wrong = (): Promise<Answer> => guess(account, app.wrong());
    expect(await wrong()).toMatchObject(invalidSecondFactorCode);
    clock.moveOn(WINDOW_MS - 2000);
    for (const _ of times(9, () => 0)) expect(await wrong()).toMatchObject(invalidSecondFactorCode);
    clock.moveOn(3000);
    const answers = [];
    for (const _ of times(10, () => 0)) answers.push(await wrong());
    // The first guess is over by now, so that one more may be compared.
    expect(
      answers.filter(({ status }) => status === invalidSecondFactorCode.status).length,
    ).toBeLessThanOrEqual(1);
    expect(answers.at(-1)).toMatchObject(rateLimited);
    clock.moveOn(WINDOW_MS);
    const later = new AuthenticatorApp(app.secret).at(Math.floor(clock.ahead / 30_000));
    expect((await guess(account, later)).status).toBe(200);
  },
);

import { ScureBase32Plugin } from 'otplib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { EncryptedSecrets } from '../../src/auth/tokens/derived-keys.js';
import { KeyRing, keySetText, newJwk, readKeySet } from '../../src/auth/tokens/signing-keys.js';
import { allRows } from '../support/rows.js';
import { atOnce, times } from '../support/at-once.js';
import {
  aChallenge,
  aPendingSecret,
  appCode,
  challengeFor,
  enrol,
  keyRingOf,
  protect,
  type Protected,
  SECOND_FACTOR,
  secondStep,
} from '../support/second-factor.js';
import {
  aJwt,
  invalidChallenge,
  invalidSecondFactorCode,
  secondFactorCodeUsed,
  invalidCredentials,
  invalidFields,
  invalidRefreshToken,
  rateLimited,
  secondFactorRequired,
} from '../support/expected.js';
import {
  type Account,
  aCode,
  anAccount,
  aPassword,
  byCode,
  exchange,
  isAlive,
  logIn,
} from '../support/personas.js';
import { aRefreshableLogin, refresh } from '../support/refreshing.js';
import { type Service, startClusterWithoutLimits } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

const CLIENTS = 50;
const ROUNDS = 3;

const fromBase32 = (text: string): Buffer => Buffer.from(new ScureBase32Plugin().decode(text));

const cluster = await startClusterWithoutLimits();
const service = cluster.instances[0]!;
const on = (turn: number): Service => cluster.instances[turn % cluster.instances.length]!;
afterAll(() => cluster.stop());

describe('a login with a second factor', () => {
  const aProtectedAccount = async (name = 'ada'): Promise<Protected> =>
    protect(service, await anAccount(service, name));

  it('takes two steps: the password gets a challenge, and that with a code gets a session', async () => {
    const { account, app } = await aProtectedAccount();
    const first = await logIn(service, account);
    expect(first).toMatchObject(secondFactorRequired);
    const { challenge, expiresAt } = first.body as unknown as { challenge: string; expiresAt: string };
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(290_000);
    const code = app.next();
    const second = await secondStep(service, challenge, `${code.slice(0, 3)} ${code.slice(3)}`);
    expect(second.status, second.text).toBe(200);
    expect(second.body).toEqual({ token: aJwt, user: { id: account.id, email: account.email } });
    const loggedIn = account.as(second.body.token);
    expect(await isAlive(loggedIn)).toBe(true);
    for (const { token } of [loggedIn, await byCode(service, loggedIn)])
      expect(decodeToken(token).claims['amr']).toEqual(['pwd', 'otp']);
  });

  it('gives what the second step asks for: a refresh token, the name of the device', async () => {
    const { account, recoveryCodes } = await aProtectedAccount();
    const challenge = await aChallenge(service, account);
    const more = { refresh: true, deviceName: "Ada's phone" };
    const { body } = await secondStep(service, challenge, recoveryCodes[0], more);
    expect(body).toMatchObject({ refreshToken: expect.any(String), expiresAt: expect.any(String) });
    const { body: list } = await account.as(body.token).get<{ sessions: object[] }>('/api/me/sessions');
    const named = { current: true, deviceName: more.deviceName };
    expect(list.sessions).toContainEqual(expect.objectContaining(named));
  });

  it('answers a wrong password as without a second factor', async () => {
    const { account } = await aProtectedAccount();
    expect(await logIn(service, { ...account, password: aPassword() })).toMatchObject(invalidCredentials);
  });

  it('is recorded like any other, and names a recovery code that was used', async () => {
    const { account, recoveryCodes } = await aProtectedAccount();
    const challenge = await aChallenge(service, account);
    expect((await secondStep(service, challenge, recoveryCodes[0]!.toLowerCase())).status).toBe(200);
    const sql = 'SELECT type, actor_id AS actor FROM events WHERE user_id = ? ORDER BY id';
    const events = await cluster.db.query(sql, [account.id]);
    const types = new Set(events.slice(2).map(({ type }) => type));
    expect(types).toEqual(new Set(['account.recovery_code_used', 'session.started']));
    expect(new Set(events.map(({ actor }) => actor))).toEqual(new Set([account.id]));
    expect(await secondStep(service, challenge, recoveryCodes[0])).toMatchObject(invalidSecondFactorCode);
  });

  it.each(['app', 'recovery'])('of 50 at once with one code (%s) exactly one succeeds', async (kind) => {
    const { account, app, recoveryCodes } = await aProtectedAccount();
    const challenges = await atOnce(times(3, () => () => aChallenge(service, account)));
    const code = kind === 'app' ? app.next() : recoveryCodes[0];
    const answers = await atOnce(
      times(CLIENTS, (client) => () => {
        return secondStep(on(client), challenges[client % challenges.length], code);
      }),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(CLIENTS - 1);
    // A code that was used is a wrong guess, and after the tenth no six digits are compared. They wait for one another, and
    // a busy machine refuses the last of them for want of time.
    const allowed = kind === 'app' ? [400, 429, 503] : [400, 503];
    expect(refused.filter(({ status }) => !allowed.includes(status))).toEqual([]);
    expect(await cluster.db.query('SELECT id FROM sessions WHERE user_id = ?', [account.id])).toHaveLength(2);
  });

  it('counts wrong codes over all instances and challenges, and lets a recovery code through', async () => {
    const { account, app, recoveryCodes } = await aProtectedAccount();
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const challenge = await aChallenge(on(attempt), account);
      expect(await secondStep(on(attempt), challenge, app.wrong())).toMatchObject(invalidSecondFactorCode);
    }
    const challenge = await aChallenge(service, account);
    const refused = await secondStep(service, challenge, app.next());
    expect(refused).toMatchObject(rateLimited);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
    expect((await secondStep(service, challenge, recoveryCodes[0])).status).toBe(200);
    // The owner is in: what a stranger has guessed counts no more.
    expect((await secondStep(service, challenge, app.next())).status).toBe(200);
  });

  it('compares ten of 50 wrong codes before the right one is used, and ten after', async () => {
    const rightOnes = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { account, app } = await aProtectedAccount();
      const challenge = await aChallenge(service, account);
      const codes = times(CLIENTS, () => app.wrong()).toSpliced(round, 0, app.next());
      const answers = await atOnce(
        codes.map((code, place) => async () => (await secondStep(on(place), challenge, code)).status),
      );

      const wrong = answers.toSpliced(round, 1);
      expect(wrong.filter((status) => status !== 400 && status !== 429)).toEqual([]);
      // The right code resets the count when it is used. If ten wrong codes precede it, it is refused and resets nothing.
      const [row] = await cluster.db.query(
        "SELECT count FROM second_factor_failures WHERE user_id = ? AND scope = 'login'",
        [account.id],
      );
      const after = Number(row!['count']);
      const before = wrong.filter((status) => status === 400).length - after;
      expect(after).toBeLessThanOrEqual(10);
      expect(before).toBeLessThanOrEqual(10);
      rightOnes.push(answers[round]);
    }
    expect(rightOnes).toContain(200);
    expect(rightOnes.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  });

  it('leaves nothing in the database by which anybody could take it', async () => {
    const account = await anAccount(service);
    const { secret: shownSecret, recoveryCodes } = await enrol(account);
    const challenge = await aChallenge(service, account);
    const dump = Object.values(await allRows(cluster.db)).flat();
    const [row] = await cluster.db.query('SELECT secret FROM second_factors WHERE user_id = ?', [account.id]);
    const secret = fromBase32(shownSecret);
    const raw = [secret.toString('hex'), secret.toString('base64url')];
    const unspaced = recoveryCodes.map((code) => code.replaceAll('-', ''));
    const shown = [challenge, shownSecret, ...raw, ...recoveryCodes, ...unspaced];
    expect(shown.filter((text) => dump.some((line) => line.includes(text)))).toEqual([]);
    const sealed = String(row!['secret']);
    expect(new EncryptedSecrets(await keyRingOf(service)).decrypt(sealed, account.id)).toEqual(secret);
    const foreign = new KeyRing(readKeySet(keySetText([newJwk()])));
    expect(new EncryptedSecrets(foreign).decrypt(sealed, account.id)).toBeUndefined();
  });

  it('does not take the code with which the factor was set up', async () => {
    const account = await anAccount(service);
    const secret = await aPendingSecret(account);
    const code = appCode(secret);
    expect((await account.post(`${SECOND_FACTOR}/confirm`, { code })).status).toBe(200);
    const step = async (typed: string) => secondStep(service, await aChallenge(service, account), typed);
    expect(await step(code)).toMatchObject(secondFactorCodeUsed);
    expect((await step(appCode(secret, 1))).status).toBe(200);
  });

  it('counts no attempt for a challenge that is void', async () => {
    const { account, app } = await aProtectedAccount();
    const challenge = await aChallenge(service, account);
    await cluster.db.query('UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?', [account.id]);
    for (let attempt = 0; attempt < 11; attempt += 1)
      expect(await secondStep(service, challenge, app.wrong())).toMatchObject(invalidChallenge);
    expect((await secondStep(service, await aChallenge(service, account), app.next())).status).toBe(200);
  });

  describe('with a challenge', () => {
    it.each<[string, (text: string, other: string) => string]>([
      ['with the id of another user', (text, other) => other + text.slice(36)],
      ['with another epoch', (text) => text.replace(/^([\da-f-]{36})\.0\./, '$1.1.')],
      ['with a later end', (text) => text.replace(/\.(\d+)\.([\w-]{43})$/, '.9$1.$2')],
      ['with another MAC', (text) => `${text.slice(0, -1)}${text.endsWith('A') ? 'E' : 'A'}`],
      ['without its MAC', (text) => text.slice(0, -44)],
      ['twice', (text) => text + text],
      ['that is empty', () => ''],
      ['of 10,000 characters', () => 'a'.repeat(10_000)],
    ])('%s it is refused', async (_how, forge) => {
      const { account, app } = await aProtectedAccount();
      const other = await anAccount(service);
      const challenge = await aChallenge(service, account);
      expect(await secondStep(service, forge(challenge, other.id), app.next())).toMatchObject(
        invalidChallenge,
      );
    });

    async function changePassword({ account, recoveryCodes: [code] }: Protected): Promise<void> {
      const change = { currentPassword: account.password, newPassword: aPassword(), code };
      expect((await account.put('/api/me/password', change)).status).toBe(200);
    }
    async function disable({ account }: Protected): Promise<void> {
      const sql = 'UPDATE users SET disabled_at = 1, auth_epoch = auth_epoch + 1 WHERE id = ?';
      await cluster.db.query(sql, [account.id]);
    }
    async function removeFactor({ account, recoveryCodes: [code] }: Protected): Promise<void> {
      const removal = { password: account.password, code };
      expect((await account.post(`${SECOND_FACTOR}/remove`, removal)).status).toBe(200);
    }
    async function replaceFactor(one: Protected): Promise<void> {
      await removeFactor(one);
      await enrol(one.account);
    }

    it.each([
      ['whose password has changed', changePassword],
      ['whose account is disabled', disable],
      ['whose second factor was removed', removeFactor],
      ['whose second factor is another by now', replaceFactor],
    ])('%s it is refused on every instance', async (_what, change) => {
      const one = await aProtectedAccount();
      const challenge = await aChallenge(service, one.account);
      await change(one);
      const code = one.app.next();
      for (const instance of cluster.instances)
        expect(await secondStep(instance, challenge, code)).toMatchObject(invalidChallenge);
    });

    it('of another user it is no way in, whatever code comes with it', async () => {
      const [ada, eve] = [await aProtectedAccount('ada'), await aProtectedAccount('eve')];
      const challenge = await aChallenge(service, eve.account);
      expect(await secondStep(service, challenge, ada.app.next())).toMatchObject(invalidSecondFactorCode);
      expect(await secondStep(service, challenge, ada.recoveryCodes[0])).toMatchObject(
        invalidSecondFactorCode,
      );
    });

    it('is no token, and no token is a challenge', async () => {
      const { account, recoveryCodes } = await aProtectedAccount();
      const challenge = await aChallenge(service, account);
      expect(await isAlive(account.as(challenge))).toBe(false);
      expect(await refresh(service, challenge)).toMatchObject(invalidRefreshToken);
      const { body } = await secondStep(service, challenge, recoveryCodes[0], { refresh: true });
      const { token, refreshToken } = body as unknown as { token: string; refreshToken: string };
      for (const other of [token, refreshToken, account.token])
        expect(await secondStep(service, other, recoveryCodes[1])).toMatchObject(invalidChallenge);
    });

    it('that has expired it is refused', async () => {
      const { account, recoveryCodes } = await aProtectedAccount();
      const step = async (expiresAt: number) =>
        secondStep(service, await challengeFor(service, account.id, { expiresAt }), recoveryCodes[0]);
      expect(await step(Date.now())).toMatchObject(invalidChallenge);
      expect((await step(Date.now() + 60_000)).status).toBe(200);
    });
  });

  it.each([
    [{ challenge: 1, code: '123456' }, ['challenge']],
    [{ challenge: 'x', code: 123_456 }, ['code']],
    [{ challenge: ['x'], code: null }, ['challenge', 'code']],
    [{}, ['challenge', 'code']],
    [{ challenge: 'x', code: '123456', refresh: 'yes' }, ['refresh']],
    [{ challenge: 'x', code: '123456', deviceName: ' ' }, ['deviceName']],
  ])('refuses a body that is not what it asks for: %j', async (body, fields) => {
    const answer = await service.anyone.post('/api/auth/login/second-factor', body);
    expect(answer).toMatchObject(invalidFields(...fields));
  });

  it.each(['', '12345', '1234567', '12345a', '１２３４５６', '6'.repeat(10_000), "' OR 1=1 --"])(
    'refuses what is no code: %j',
    async (code) => {
      const { account } = await aProtectedAccount();
      expect(await secondStep(service, await aChallenge(service, account), code)).toMatchObject(
        invalidSecondFactorCode,
      );
    },
  );
});

describe('a session of a user with a second factor', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const enroll = (at: number | null) =>
    service.db.query('UPDATE users SET second_factor_at = ? WHERE id = ?', [at, ada.id]);
  it('is dead if it has not shown it', async () => {
    const desktop = await aRefreshableLogin(service, ada);
    const code = await aCode(ada.as(desktop.token));
    const opened = await byCode(service, ada.as(desktop.token));
    await enroll(1);
    for (const { token } of [ada, desktop, opened]) expect(await isAlive(ada.as(token))).toBe(false);
    expect((await refresh(service, desktop.refreshToken)).status).toBe(401);
    expect((await exchange(service, code)).status).toBe(400);
    await enroll(null);
  });

  it('is alive if it has shown it, with what its codes open', async () => {
    const desktop = await aRefreshableLogin(service, ada);
    await service.db.query("UPDATE sessions SET amr = 'pwd otp' WHERE user_id = ?", [ada.id]);
    await enroll(1);
    const opened = await byCode(service, ada.as(desktop.token));
    expect(await isAlive(opened)).toBe(true);
    expect((await refresh(service, desktop.refreshToken)).status).toBe(200);
    await enroll(null);
  });
});

import { ScureBase32Plugin } from 'otplib';
import { beforeEach, describe, expect, it } from 'vitest';
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
  forgetSteps,
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
  invalidToken,
  rateLimited,
  secondFactorRequired,
} from '../support/expected.js';
import type { Account, Session } from '../support/personas.js';
import { aCode, anAccount, aPassword, byCode, exchange, isAlive, logIn } from '../support/personas.js';
import { aRefreshableLogin, refresh, type Tokens } from '../support/refreshing.js';
import { type Service, startSharedCluster } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import type { Answer } from '../support/answer.js';
import { engine } from '../support/engine.js';
import { answerAfter, holdRows } from '../support/held-rows.js';

const CLIENTS = 50;
/** They wait for one another: a busy machine compares no more of them in the time of a request. */
const GUESSES = 20;
const ROUNDS = 3;

const statusesOf = (answers: Answer[]): number[] => answers.map(({ status }) => status);
const fromBase32 = (text: string): Buffer => Buffer.from(new ScureBase32Plugin().decode(text));

const cluster = await startSharedCluster();
const service = cluster.instances[0]!;
const on = (turn: number): Service => cluster.instances[turn % cluster.instances.length]!;

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

  it.each([
    ['none', {}, {}, null],
    ['that of the first step', { deviceName: " Ada's laptop " }, {}, "Ada's laptop"],
    ['the longest', { deviceName: '𝒟'.repeat(60) }, {}, '𝒟'.repeat(60)],
    ['that of the second step', { deviceName: "Ada's laptop" }, { deviceName: 'Engine' }, 'Engine'],
  ])('shows a name of the device in the list of sessions: %s', async (_what, first, second, shown) => {
    const { account, recoveryCodes } = await aProtectedAccount();
    const { challenge } = (await logIn(service, account, first)).body as unknown as { challenge: string };
    const { status, body, text } = await secondStep(on(1), challenge, recoveryCodes[0], second);
    expect(status, text).toBe(200);
    const { sessions } = (await account.as(body.token).get<{ sessions: object[] }>('/api/me/sessions')).body;
    expect(sessions.find((one) => 'current' in one && one.current)).toMatchObject({ deviceName: shown });
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
      times(CLIENTS, (client) => () => secondStep(on(client), challenges[client % challenges.length], code)),
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
      // The right code resets the count when it is used. If ten wrong codes precede it, it is rejected and resets nothing.
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
    expect(rightOnes.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  });

  // On MariaDB, those that wait for one row may go on in another order.
  it.runIf(engine === 'sqlite')('uses the right code that is compared first, beside wrong ones', async () => {
    const { account, app } = await aProtectedAccount();
    const challenge = await aChallenge(service, account);
    const held = await holdRows(service);
    const right = secondStep(service, challenge, app.next());
    await held.untilOneWaits();
    const wrong = atOnce(times(GUESSES, () => () => secondStep(service, challenge, app.wrong())));
    await held.commit();
    expect((await right).status).toBe(200);
    expect(new Set(statusesOf(await wrong))).toEqual(new Set([400, 429]));
  });

  // SQLite has one lock, for which the comparisons would wait too.
  it.runIf(engine === 'mariadb')(
    'compares ten codes while the right one waits to be used, and ten after',
    async () => {
      const { account, app } = await aProtectedAccount();
      const challenge = await aChallenge(service, account);
      // On its own instance, they would wait for the right one.
      const wrongOnes = async () => {
        const guess = (place: number) => secondStep(on(1 + (place % 2)), challenge, app.wrong());
        const statuses = statusesOf(await atOnce(times(GUESSES, (place) => () => guess(place))));
        return statuses.toSorted((one, other) => one - other);
      };
      const tenCompared = [...times(10, () => 400), ...times(GUESSES - 10, () => 429)];
      const held = await holdRows(service);
      await held.write('UPDATE second_factors SET last_step = last_step WHERE user_id = ?', [account.id]);
      const right = secondStep(service, challenge, app.next());
      await held.untilOneWaits();
      expect(await wrongOnes()).toEqual(tenCompared);
      await held.commit();
      expect((await right).status).toBe(200);
      expect(await wrongOnes()).toEqual(tenCompared);
    },
  );

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
    expect(
      new EncryptedSecrets(await keyRingOf(service), 'second factor secrets').decrypt(sealed, account.id),
    ).toEqual(secret);
    const foreign = new KeyRing(readKeySet(keySetText([newJwk()])));
    expect(
      new EncryptedSecrets(foreign, 'second factor secrets').decrypt(sealed, account.id),
    ).toBeUndefined();
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
    expect(await isAlive(await byCode(service, ada.as(desktop.token)))).toBe(true);
    expect((await refresh(service, desktop.refreshToken)).status).toBe(200);
    await enroll(null);
  });
});

const LOGINS = 8;
/** later than any code of today */
const FAR_STEP = 2_000_000_000;

interface RecoveryCodes {
  recoveryCodes: string[];
}

interface Person extends Protected {
  logIn: (code: string | undefined) => Promise<Answer<Session>>;
}

const CONFIRM = `${SECOND_FACTOR}/confirm`;
const REMOVE = `${SECOND_FACTOR}/remove`;
/** fewer than the wrong codes that are compared */
const AT_ONCE = 9;

describe('logins of many users that arrive at the same moment', () => {
  /** Somebody who has logged in before, so that there is a row that counts. */
  async function aPerson(): Promise<Person> {
    const person = await protect(service, await anAccount(service));
    const { id } = person.account;
    await service.db.query(
      "INSERT INTO second_factor_failures (user_id, scope, count, since) VALUES (?, 'login', 0, 0)",
      [id],
    );
    const challenge = await challengeFor(service, id);
    return { ...person, logIn: (code) => secondStep(service, challenge, code) };
  }
  async function people(count: number): Promise<Person[]> {
    const found: Person[] = [];
    while (found.length < count) found.push(await aPerson());
    return found;
  }
  const failuresOf = async ({ account }: Person): Promise<number> => {
    const sql = 'SELECT count FROM second_factor_failures WHERE user_id = ?';
    const [row] = await service.db.query(sql, [account.id]);
    return Number(row?.['count'] ?? 0);
  };
  const sessionsOf = async ({ account }: Person): Promise<number> =>
    (await service.db.query('SELECT id FROM sessions WHERE user_id = ?', [account.id])).length - 1;

  it('get an answer each: a session of their own, or what is wrong with their own', async () => {
    const lucky = await people(LOGINS);
    const others = (await people(5)) as [Person, Person, Person, Person, Person];
    const [typo, guessed, disabled, changed, first] = others;
    const { db } = service;
    const COUNT_FAILED = 'UPDATE second_factor_failures SET count = ?, since = ? WHERE user_id = ?';
    await db.query(COUNT_FAILED, [10, Date.now(), guessed.account.id]);
    await db.query(COUNT_FAILED, [9, Date.now(), lucky[2]!.account.id]);
    await db.query('UPDATE users SET disabled_at = 1 WHERE id = ?', [disabled.account.id]);
    await db.query('UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?', [changed.account.id]);
    await db.query('DELETE FROM second_factor_failures WHERE user_id = ?', [first.account.id]);

    const [wrong, full, ofDisabled, ofChanged, ofFirst, swapped, ...right] = await atOnce([
      () => typo.logIn(typo.app.wrong()),
      () => guessed.logIn(guessed.app.next()),
      () => disabled.logIn(disabled.app.next()),
      () => changed.logIn(changed.app.next()),
      () => first.logIn(first.app.next()),
      () => lucky[0]!.logIn(lucky[1]!.app.at()),
      ...lucky.map((person) => () => person.logIn(person.app.next())),
    ]);

    expect(wrong).toMatchObject(invalidSecondFactorCode);
    expect(full).toMatchObject(rateLimited);
    for (const answer of [ofDisabled, ofChanged]) expect(answer).toMatchObject(invalidChallenge);
    expect(ofFirst!.body.user.id).toBe(first.account.id);
    expect(swapped, 'the code of somebody else').toMatchObject(invalidSecondFactorCode);
    expect(right.map(({ body }) => body.user)).toEqual(
      lucky.map(({ account: { id, email } }) => ({ id, email })),
    );
    for (const [place, { body }] of right.entries()) {
      expect(decodeToken(body.token).claims['sub']).toBe(lucky[place]!.account.id);
      expect(await isAlive(lucky[place]!.account.as(body.token))).toBe(true);
    }
    const opened = await atOnce([...lucky, first].map((person) => () => sessionsOf(person)));
    expect(opened).toEqual(times(LOGINS + 1, () => 1));
    const refused = [typo, guessed, disabled, changed];
    expect(await atOnce(refused.map((person) => () => sessionsOf(person)))).toEqual([0, 0, 0, 0]);
    expect(await failuresOf(lucky[2]!), 'a right code takes back what was wrong').toBe(0);
    expect(await atOnce(refused.map((person) => () => failuresOf(person)))).toEqual([1, 10, 0, 0]);
  });

  it('are recorded each with its own session', async () => {
    const all = await people(LOGINS);
    await atOnce(all.map((person) => () => person.logIn(person.app.next())));
    const ids = all.map(({ account }) => account.id);
    const rows = await service.db.query(
      `SELECT e.user_id AS userId, s.user_id AS ofSession, e.actor_id AS actor FROM events e
        JOIN sessions s ON s.id = e.session_id AND s.amr = 'pwd otp'
        WHERE e.type = 'session.started' AND e.actor_session_id = s.id AND e.user_id IN (${ids.map(() => '?').join(', ')})`,
      ids,
    );
    for (const { userId, ofSession, actor } of rows) expect([ofSession, actor]).toEqual([userId, userId]);
    expect(new Set(rows.map(({ userId }) => userId))).toEqual(new Set(ids));
  });

  // SQLite has one lock, which a login holds from its first statement on.
  describe.runIf(engine === 'mariadb')('while a transaction holds a row of one of them', () => {
    it('are refused alone if their code was used meanwhile, beside a password', async () => {
      const others = await people(LOGINS);
      const used = await aPerson();
      const rows = await holdRows(service);
      const LATER = 'UPDATE second_factors SET last_step = ? WHERE user_id = ?';
      await rows.write(LATER, [FAR_STEP, used.account.id]);
      const answers = atOnce([...others, used].map((person) => () => person.logIn(person.app.next())));
      await rows.untilOneWaits();
      await rows.commit();
      const right = await answers;
      expect(right.pop()).toMatchObject(secondFactorCodeUsed);
      expect(right.map(({ body }) => body.user.id)).toEqual(others.map(({ account }) => account.id));
      expect(await sessionsOf(used)).toBe(0);
    });

    it('are answered while somebody holds the row of one user', async () => {
      const others = await people(LOGINS);
      const held = await aPerson();
      const rows = await holdRows(service);
      await rows.write('UPDATE users SET revision = revision + 1 WHERE id = ?', [held.account.id]);
      const answers = others.map((person) => person.logIn(person.app.next()));
      const late = held.logIn(held.app.next());
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      await rows.rollback();
      expect(statuses).toEqual(others.map(() => 200));
      // Its own may have waited longer than a request may take.
      expect([200, 503]).toContain((await late).status);
    });
  });
});

describe('changes of a second factor at once', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const count = async (table: string): Promise<number> =>
    (await cluster.db.query(`SELECT user_id FROM ${table} WHERE user_id = ?`, [ada.id])).length;

  it('set it up once: of several sessions one confirms and goes on', async () => {
    const logins: Tokens[] = [];
    while (logins.length < AT_ONCE) logins.push(await aRefreshableLogin(on(logins.length), ada));
    const sessions = logins.map(({ token }) => ada.as(token));
    const code = appCode(await aPendingSecret(ada));
    const answers = await atOnce(
      sessions.map((session, turn) => () => session.at(on(turn)).post<RecoveryCodes>(CONFIRM, { code })),
    );
    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    // The others have ended, or have found the code used or the factor there.
    expect(statusesOf(answers).filter((status) => ![200, 400, 401, 409].includes(status))).toEqual([]);
    expect(await count('recovery_codes')).toBe(10);
    expect(await Promise.all(sessions.map(isAlive))).toEqual(sessions.map((_, turn) => turn === winner));
    const [first] = answers[winner]!.body.recoveryCodes;
    expect((await sessions[winner]!.post(REMOVE, { password: ada.password, code: first })).status).toBe(200);
  });

  it('count the first attempts of an account, and refuse none of them', async () => {
    for (let round = 0; round < 12; round += 1) {
      const account = await anAccount(service);
      await aPendingSecret(account);
      const attempt = (turn: number) => () => account.at(on(turn)).post(CONFIRM, { code: '000000' });
      expect(statusesOf(await atOnce(times(AT_ONCE, attempt)))).toEqual(times(AT_ONCE, () => 400));
    }
  });

  it.each(['app', 'recovery'])(
    'use a code (%s) once: one makes new recovery codes, which are all there are',
    async (kind) => {
      const { secret, recoveryCodes } = await enrol(ada);
      await forgetSteps(cluster, ada);
      const body = { password: ada.password, code: kind === 'app' ? appCode(secret) : recoveryCodes[0] };
      const renew = (turn: number) => () =>
        ada.at(on(turn)).post<RecoveryCodes>(`${SECOND_FACTOR}/recovery-codes`, body);
      const answers = await atOnce(times(AT_ONCE, renew));
      const [winner, ...others] = answers.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      // A request that has read the account before the winner changed it may be asked to come again.
      expect(statusesOf(answers).filter((status) => ![200, 400, 503].includes(status))).toEqual([]);
      expect(await count('recovery_codes')).toBe(10);
      const last = { password: ada.password, code: winner!.body.recoveryCodes[9] };
      expect((await ada.post(REMOVE, last)).status).toBe(200);
    },
  );

  it.each([
    ['by an end of all', 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?'],
    ['by itself', 'UPDATE sessions SET revoked_at = 1 WHERE user_id = ?'],
  ])('set nothing up for a session that is ended meanwhile, %s', async (_how, end) => {
    const code = appCode(await aPendingSecret(ada));
    const answer = await answerAfter(
      service,
      (held) => held.write(end, [ada.id]),
      () => ada.post(CONFIRM, { code }),
    );
    expect(answer).toMatchObject(invalidToken);
    expect(await count('recovery_codes')).toBe(0);
    const sql = 'SELECT second_factor_at AS since FROM users WHERE id = ?';
    expect(await cluster.db.query(sql, [ada.id])).toEqual([{ since: null }]);
  });

  it('set up no secret that another enrolment has replaced meanwhile', async () => {
    const code = appCode(await aPendingSecret(ada));
    const sql = 'UPDATE second_factors SET pending_until = pending_until + 1 WHERE user_id = ?';
    const answer = await answerAfter(
      service,
      (held) => held.write(sql, [ada.id]),
      () => ada.post(CONFIRM, { code }),
    );
    expect(answer).toMatchObject(invalidSecondFactorCode);
    expect(await isAlive(ada)).toBe(true);
  });
});

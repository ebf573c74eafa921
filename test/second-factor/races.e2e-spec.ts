import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/answer.js';
import { atOnce, times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import {
  aPendingSecret,
  appCode,
  challengeFor,
  enrol,
  forgetSteps,
  protect,
  type Protected,
  SECOND_FACTOR,
  secondStep,
} from '../support/second-factor.js';
import {
  invalidChallenge,
  invalidSecondFactorCode,
  invalidToken,
  rateLimited,
  secondFactorCodeUsed,
} from '../support/expected.js';
import { answerAfter, holdRows } from '../support/held-rows.js';
import { type Account, anAccount, isAlive, type Session } from '../support/personas.js';
import { aRefreshableLogin } from '../support/refreshing.js';
import { startClusterWithoutLimits } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

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

const cluster = await startClusterWithoutLimits();
const service = cluster.instances[0]!;
afterAll(() => cluster.stop());

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
  const people = (count: number): Promise<Person[]> => atOnce(times(count, () => aPerson));
  const failuresOf = async ({ account }: Person): Promise<number> => {
    const sql = 'SELECT count FROM second_factor_failures WHERE user_id = ?';
    const [row] = await service.db.query(sql, [account.id]);
    return Number(row?.['count'] ?? 0);
  };
  const sessionsOf = async ({ account }: Person): Promise<number> => {
    const rows = await service.db.query('SELECT id FROM sessions WHERE user_id = ?', [account.id]);
    return rows.length - 1;
  };

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

  const on = (turn: number) => cluster.instances[turn % cluster.instances.length]!;
  const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status);
  const count = async (table: string): Promise<number> =>
    (await cluster.db.query(`SELECT user_id FROM ${table} WHERE user_id = ?`, [ada.id])).length;

  it('set it up once: of several sessions one confirms and goes on', async () => {
    const logins = await atOnce(times(AT_ONCE, (turn) => () => aRefreshableLogin(on(turn), ada)));
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
    const removal = { password: ada.password, code: first };
    expect((await sessions[winner]!.post(REMOVE, removal)).status).toBe(200);
  });

  it('count the first attempts of an account, and refuse none of them', async () => {
    for (const account of await Promise.all(times(12, () => anAccount(service)))) {
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
      const code = kind === 'app' ? appCode(secret) : recoveryCodes[0];
      const body = { password: ada.password, code };
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

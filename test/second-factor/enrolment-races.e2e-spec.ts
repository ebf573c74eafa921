import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { appCode, aPendingSecret, enrol, forgetSteps, SECOND_FACTOR } from '../support/enrolment.js';
import { invalidCode, invalidToken } from '../support/expected.js';
import { holdRows } from '../support/held-rows.js';
import { type Account, anAccount } from '../support/personas.js';
import { aRefreshableLogin } from '../support/refreshing.js';
import { startClusterWithoutLimits } from '../support/service.js';

const CONFIRM = `${SECOND_FACTOR}/confirm`;
const REMOVE = `${SECOND_FACTOR}/remove`;

/** fewer than the wrong codes that are compared */
const AT_ONCE = 9;

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('changes of a second factor at once', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(cluster.instances[0]!, 'ada');
  });

  const at = (turn: number, account = ada): Account =>
    account.at(cluster.instances[turn % cluster.instances.length]!);
  const count = async (table: string): Promise<number> =>
    (await cluster.db.query(`SELECT user_id FROM ${table} WHERE user_id = ?`, [ada.id])).length;

  it('set it up once: of several sessions one confirms and goes on', async () => {
    const logins = await atOnce(
      times(
        AT_ONCE,
        (turn) => () => aRefreshableLogin(cluster.instances[turn % cluster.instances.length]!, ada),
      ),
    );
    const code = appCode(await aPendingSecret(ada));

    const answers = await atOnce(
      logins.map(
        ({ token }, turn) =>
          () =>
            at(turn, ada.as(token)).post<{ recoveryCodes: string[] }>(CONFIRM, { code }),
      ),
    );

    const winner = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    // The others have ended, or have found the code used or the factor there.
    expect(
      answers.map(({ status }) => status).filter((status) => ![200, 400, 401, 409].includes(status)),
    ).toEqual([]);
    expect(await count('recovery_codes')).toBe(10);
    const alive = await atOnce(
      logins.map(
        ({ token }) =>
          () =>
            ada.as(token).get('/api/me'),
      ),
    );
    expect(alive.map(({ status }) => status === 200)).toEqual(logins.map((_, turn) => turn === winner));
    const [first] = answers[winner]!.body.recoveryCodes;
    const removed = await ada.as(logins[winner]!.token).post(REMOVE, { password: ada.password, code: first });
    expect(removed.status).toBe(200);
  });

  it('count the first attempts of an account, and refuse none of them', async () => {
    for (const account of await Promise.all(times(12, () => anAccount(cluster.instances[0]!)))) {
      await aPendingSecret(account);
      const attempts = times(AT_ONCE, (turn) => () => at(turn, account).post(CONFIRM, { code: '000000' }));
      const statuses = (await atOnce(attempts)).map(({ status }) => status);
      expect(statuses.filter((status) => status !== 400)).toEqual([]);
    }
  });

  it.each(['app', 'recovery'])(
    'use a code (%s) once: one makes new recovery codes, which are all there are',
    async (kind) => {
      const { secret, recoveryCodes } = await enrol(ada);
      await forgetSteps(cluster, ada);
      const code = kind === 'app' ? appCode(secret) : recoveryCodes[0];
      const body = { password: ada.password, code };

      const answers = await atOnce(
        times(
          AT_ONCE,
          (turn) => () => at(turn).post<{ recoveryCodes: string[] }>(`${SECOND_FACTOR}/recovery-codes`, body),
        ),
      );

      const [winner, ...others] = answers.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      // A request that has read the account before the winner changed it may be asked to come again.
      expect(
        answers.map(({ status }) => status).filter((status) => ![200, 400, 503].includes(status)),
      ).toEqual([]);
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
    const held = await holdRows(cluster.instances[0]!);
    await held.write(end, [ada.id]);
    const answer = ada.post(CONFIRM, { code });
    await held.untilOneWaits();
    await held.commit();

    expect(await answer).toMatchObject(invalidToken);
    expect(await count('recovery_codes')).toBe(0);
    const [user] = await cluster.db.query('SELECT second_factor_at AS since FROM users WHERE id = ?', [
      ada.id,
    ]);
    expect(user).toEqual({ since: null });
  });

  it('set up no secret that another enrolment has replaced meanwhile', async () => {
    const code = appCode(await aPendingSecret(ada));
    const held = await holdRows(cluster.instances[0]!);
    await held.write('UPDATE second_factors SET pending_until = pending_until + 1 WHERE user_id = ?', [
      ada.id,
    ]);
    const answer = ada.post(CONFIRM, { code });
    await held.untilOneWaits();
    await held.commit();

    expect(await answer).toMatchObject(invalidCode);
    expect((await ada.get('/api/me')).status).toBe(200);
  });
});

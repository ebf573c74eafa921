import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { aheadBy } from '../support/clock.js';
import { engine, instancesInARace } from '../support/engine.js';
import { NO_LIMITS } from '../support/no-limits.js';
import { type Account, anAccount } from '../support/personas.js';
import { aRefreshableLogin, partsOf, refresh, refreshed } from '../support/refreshing.js';
import { type Cluster, type Service, startCluster, startClusterWithoutLimits } from '../support/service.js';

const ROUNDS = 10;
const WINDOWS = 50;
const PAIRS = 20;

describe('one refresh token in many windows', () => {
  let cluster: Cluster;
  let ada: Account;

  beforeAll(async () => {
    cluster = await startClusterWithoutLimits();
    ada = await anAccount(cluster.instances[0]!, 'ada');
  });
  afterAll(() => cluster.stop());

  const on = (place: number): Service => cluster.instances[place % cluster.instances.length]!;

  it('takes one step, and every window gets tokens that work everywhere', async () => {
    let { refreshToken } = await aRefreshableLogin(on(0), ada);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { sessionId, generation } = partsOf(refreshToken);
      const answers = await atOnce(times(WINDOWS, (window) => () => refresh(on(window), refreshToken)));

      expect(answers.map(({ status }) => status)).toEqual(times(WINDOWS, () => 200));
      const generations = answers.map(({ body }) => partsOf(body.refreshToken).generation);
      expect(new Set(generations)).toEqual(new Set([generation + 1]));
      expect(
        await cluster.db.query('SELECT refresh_generation, revoked_at FROM sessions WHERE id = ?', [
          sessionId,
        ]),
      ).toEqual([{ refresh_generation: generation + 1, revoked_at: null }]);
      const uses = await Promise.all(
        answers.map(({ body }, place) =>
          on(place + 1)
            .anyone.withToken(body.token)
            .get('/api/me'),
        ),
      );
      expect(uses.map(({ status }) => status)).toEqual(times(WINDOWS, () => 200));
      refreshToken = answers[round % WINDOWS]!.body.refreshToken;
    }
  });

  it('ends with its session once where many thieves come late', async () => {
    const login = await aRefreshableLogin(on(0), ada);
    const { refreshToken } = await refreshed(on(1), login.refreshToken);
    const { sessionId } = partsOf(refreshToken);
    await cluster.db.query('UPDATE sessions SET rotated_at = 1 WHERE id = ?', [sessionId]);

    const answers = await atOnce(times(WINDOWS, (place) => () => refresh(on(place), login.refreshToken)));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect((await refresh(on(0), refreshToken)).status).toBe(401);
    expect(
      await cluster.db.query("SELECT id FROM events WHERE session_id = ? AND type = 'session.ended'", [
        sessionId,
      ]),
    ).toHaveLength(1);
  });
});

describe('one refresh token used twice', () => {
  const A_MINUTE_BEHIND = { NODE_OPTIONS: aheadBy(-60_000) };
  let cluster: Cluster;
  let ada: Account;

  beforeAll(async () => {
    cluster = await startCluster(instancesInARace, {
      env: { ...NO_LIMITS, REFRESH_GRACE: '0s' },
      envs: [{}, A_MINUTE_BEHIND, { ...A_MINUTE_BEHIND, REFRESH_GRACE: '30s' }],
    });
    ada = await anAccount(cluster.instances[0]!, 'ada');
  });
  afterAll(() => cluster.stop());

  it('at the same moment is accepted once without a grace, also by an instance whose clock is a minute behind', async () => {
    const [here, there = here] = cluster.instances;
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const logins = await Promise.all(times(PAIRS, () => aRefreshableLogin(here!, ada)));
      const answers = await atOnce(
        logins.flatMap(({ refreshToken }) => [here!, there!].map((on) => () => refresh(on, refreshToken))),
      );
      for (let pair = 0; pair < answers.length; pair += 2) {
        const statuses = answers.slice(pair, pair + 2).map(({ status }) => status);
        outcomes.add(statuses.toSorted((a, b) => a - b).join(' '));
      }
    }

    expect(outcomes).toContain('200 401');
    // The second use can end the session before the first one is answered.
    expect([...outcomes].filter((outcome) => !['200 401', '401 401'].includes(outcome))).toEqual([]);
  });

  it.runIf(engine === 'mariadb')(
    'after the grace is refused by an instance whose clock is a minute behind',
    async () => {
      const [here, , behind] = cluster.instances;
      const login = await aRefreshableLogin(here!, ada);
      await refreshed(here!, login.refreshToken);
      expect((await refresh(behind!, login.refreshToken)).status).toBe(200);
      await cluster.db.query('UPDATE sessions SET rotated_at = rotated_at - 31000 WHERE id = ?', [
        partsOf(login.refreshToken).sessionId,
      ]);

      expect((await refresh(behind!, login.refreshToken)).status).toBe(401);
    },
  );
});

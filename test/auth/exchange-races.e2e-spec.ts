import { afterAll, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { endFamilyDuringExchanges } from '../support/ending-family.js';
import { invalidCode, invalidToken } from '../support/expected.js';
import { type Account, aCode, anAccount } from '../support/personas.js';
import { startClusterWithoutLimits } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';
import { survivorsOfReuse } from '../support/stolen-code.js';

const ROUNDS = 20;
const CLIENTS = 50;
const THEFTS = 40;
const FAMILIES = 10;

const cluster = await startClusterWithoutLimits();
afterAll(() => cluster.stop());

describe('one code and many clients', () => {
  it('make one session; all others get invalid_code', async () => {
    const [first] = cluster.instances;
    const ada = await anAccount(first!, 'ada');

    for (let round = 0; round < ROUNDS; round += 1) {
      const code = await aCode(ada);
      const answers = await atOnce(
        times(CLIENTS, (client) => () => {
          const instance = cluster.instances[client % cluster.instances.length]!;
          return instance.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
        }),
      );

      const [winner, ...others] = answers.toSorted((one, other) => one.status - other.status);
      expect(winner!.status).toBe(200);
      for (const loser of others) expect(loser).toMatchObject(invalidCode);
      const bodies = others.map(({ body }) => JSON.stringify({ ...body, requestId: 'any' }));
      expect(new Set(bodies).size).toBe(1);

      const session = decodeToken(winner!.body.token).claims['sid'] as string;
      expect(await cluster.db.query('SELECT id FROM sessions WHERE user_id = ?', [ada.id])).toHaveLength(
        round + 2,
      );
      // The losers used a code that was used already, so what it granted is revoked, on every instance.
      expect(
        await cluster.db.query('SELECT id FROM sessions WHERE id = ? AND revoked_at IS NULL', [session]),
      ).toEqual([]);
      for (const instance of cluster.instances) {
        expect(await instance.anyone.withToken(winner!.body.token).get('/api/me')).toMatchObject(
          invalidToken,
        );
      }
    }
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('are judged one by one when there are many codes', async () => {
    const [instance] = cluster.instances;
    const [ada, revoked] = [await anAccount(instance!, 'ada'), await anAccount(instance!, 'revoked')];
    const exchange = (code: string) => instance!.anyone.post('/api/auth/code/exchange', { code });
    const codesOf = (account: Account, count: number) =>
      Promise.all(Array.from({ length: count }, () => aCode(account)));
    for (let round = 0; round < ROUNDS; round += 1) {
      const [good, twice, used, dead] = [
        await codesOf(ada, 6),
        await aCode(ada),
        await aCode(ada),
        round === 0 ? await codesOf(revoked, 3) : [],
      ];
      if (round === 0) {
        await cluster.db.query('UPDATE sessions SET revoked_at = 1 WHERE user_id = ?', [revoked.id]);
      }
      expect((await exchange(used)).status).toBe(200);

      const statuses = async (codes: string[]) =>
        (await Promise.all(codes.map(exchange))).map(({ status }) => status).toSorted((a, b) => a - b);
      const [ofGood, ofTwice, ofUsed, ofDead] = await Promise.all([
        statuses(good),
        statuses([twice, twice]),
        statuses([used]),
        statuses([...dead, 'x'.repeat(43)]),
      ]);

      expect(ofGood).toEqual(good.map(() => 200));
      expect(ofTwice).toEqual([200, 400]);
      expect(ofUsed).toEqual([400]);
      expect(ofDead).toEqual([...dead, 'unknown'].map(() => 400));
    }
  });

  it('leave no session alive that is derived while reuse of the code revokes all of them', async () => {
    const [owner, thief] = [cluster.instances[0]!, cluster.instances.at(-1)!];
    const ada = await anAccount(owner, 'ada');
    const rounds = [];
    for (let round = 0; round < THEFTS; round += 1) {
      rounds.push(await survivorsOfReuse(ada, { owner, thief, checks: cluster.instances }, round % 4));
    }

    expect(rounds.flatMap(({ survivors }) => survivors)).toEqual([]);
    // Rounds in which nothing was derived would prove nothing.
    expect(rounds.filter(({ derived }) => derived >= 2).length).toBeGreaterThanOrEqual(THEFTS / 4);
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('leave no session of a family alive that ends meanwhile, each with one event', async () => {
    const wrong: string[] = [];
    let opened = 0;
    for (let round = 0; round < FAMILIES; round += 1) {
      const family = await endFamilyDuringExchanges(cluster, 1 + 3 * round);
      wrong.push(...family.wrong);
      opened += family.opened;
    }

    expect(wrong).toEqual([]);
    expect(opened).toBeGreaterThan(FAMILIES);
  });
});

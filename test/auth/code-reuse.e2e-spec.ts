import { bodyOf } from '../support/answer.js';
import { roundsOfARace } from '../support/engine.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { atOnce, times } from '../support/at-once.js';
import { endFamilyDuringExchanges } from '../support/ending-family.js';
import { invalidCode } from '../support/expected.js';
import type { Account } from '../support/personas.js';
import { aBoundCode, aCode, anAccount, byCode, exchange, isAlive } from '../support/personas.js';
import { startSharedCluster } from '../support/service.js';
import { addDerivedSessions } from '../support/rows.js';
import { sessionIdOf } from '../support/signing-keys.js';
import { survivorsOfReuse } from '../support/stolen-code.js';
import { hangTimeoutMs } from '../../tooling/wait.js';

const WARN = 40;
const BRANCH = 5000;
const ROUNDS = roundsOfARace(20);
const CLIENTS = 50;
const THEFTS = 24;
const FAMILIES = 6;

const cluster = await startSharedCluster();
const service = cluster.instances[0]!;

describe('a code that is used again', () => {
  let ada: Account;

  beforeEach(async () => {
    ada = await anAccount(service, 'ada');
  });

  const opened = (from: Account): Promise<Account> => byCode(service, from);
  const exchanged = async (code: string, codeVerifier?: string) =>
    ada.as((await bodyOf(exchange(service, code, { codeVerifier }))).token);
  const refuse = async (code: string, codeVerifier?: string): Promise<void> =>
    expect(await exchange(service, code, { codeVerifier })).toMatchObject(invalidCode);
  const alive = (...sessions: Account[]): Promise<boolean[]> => Promise.all(sessions.map(isAlive));

  it('revokes the session it opened with its branch, not the login that issued it', async () => {
    const stolen = await aCode(ada);
    const thief = await exchanged(stolen);
    const second = await opened(thief);
    const third = await opened(second);
    const branch = await opened(thief);
    const unused = await aCode(third);
    await refuse(stolen);
    expect(await alive(ada, thief, second, third, branch)).toEqual([true, false, false, false, false]);
    await refuse(unused);
  });

  it('revokes its whole branch from the first session on, and no other branch', async () => {
    const [first, other] = [await opened(ada), await opened(ada)];
    const below = await opened(other);
    const code = await aCode(first);
    const [second, beside] = [await exchanged(code), await opened(first)];
    const third = await opened(second);
    await refuse(code);
    expect(await alive(first, second, beside, third)).toEqual([false, false, false, false]);
    expect(await alive(ada, other, below)).toEqual([true, true, true]);
  });

  it('is logged, with the session that it revoked', async () => {
    const code = await aCode(ada);
    const desktop = await exchanged(code);
    const lineOf = (): string | undefined =>
      service.logs.find((line) => line.includes('code reused') && line.includes(sessionIdOf(desktop)));
    expect(lineOf()).toBeUndefined();
    await refuse(code);
    await expect.poll(lineOf, { timeout: hangTimeoutMs() }).toBeDefined();
    expect(JSON.parse(lineOf()!)).toMatchObject({
      level: WARN,
      msg: 'one-time code reused',
      sessionId: sessionIdOf(desktop),
    });
  });

  it.each(['while it is stored', 'after its row was deleted'])(
    'revokes nothing without its verifier, %s',
    async (when) => {
      const { code, verifier } = await aBoundCode(ada);
      const desktop = await exchanged(code, verifier);
      if (when !== 'while it is stored')
        await service.db.query('DELETE FROM authorization_codes WHERE session_id = ?', [sessionIdOf(ada)]);
      await refuse(code);
      await refuse(code, 'x'.repeat(43));
      expect(await isAlive(desktop)).toBe(true);
      await refuse(code, verifier);
      expect(await isAlive(desktop)).toBe(false);
    },
  );

  it('has an event for each session of the branch once, however often the codes are repeated', async () => {
    const codes: string[] = [];
    const chain: Account[] = [ada];
    for (let link = 0; link < 5; link += 1) {
      codes.push(await aCode(chain.at(-1)!));
      chain.push(await exchanged(codes.at(-1)!));
    }
    const branch = chain.slice(1).map(sessionIdOf);
    for (const code of [...codes, ...codes]) await refuse(code);
    expect(await alive(...chain)).toEqual(chain.map((_, link) => link === 0));
    const ended = async (): Promise<unknown[]> => {
      const sql = `SELECT session_id, data FROM events WHERE type = 'session.ended'
        AND session_id IN (${branch.map(() => '?').join()}) ORDER BY session_id`;
      return service.db.query(sql, branch);
    };
    const told = branch.map((id) => ({ session_id: id, data: '{"reason":"code_reused"}' }));
    await expect.poll(ended, { timeout: hangTimeoutMs() }).toEqual(told);
  });

  it('revokes a branch of thousands', async () => {
    const code = await aCode(ada);
    const desktop = await exchanged(code);
    await addDerivedSessions(service.db, ada, BRANCH, sessionIdOf(desktop));
    const left = async (): Promise<number> => {
      const sql = 'SELECT COUNT(*) AS alive FROM sessions WHERE revoked_at IS NULL AND user_id = ?';
      return Number((await service.db.query(sql, [ada.id]))[0]!['alive']);
    };
    expect(await left()).toBe(BRANCH + 2);
    await refuse(code);
    await expect.poll(left, { timeout: hangTimeoutMs() }).toBe(1);
    expect(await isAlive(desktop)).toBe(false);
    expect(await isAlive(ada)).toBe(true);
  });
});

describe('one code and many clients', () => {
  it('make one session; all others get invalid_code', async () => {
    const ada = await anAccount(service, 'ada');
    for (let round = 0; round < ROUNDS; round += 1) {
      const code = await aCode(ada);
      const answers = await atOnce(
        times(
          CLIENTS,
          (client) => () => exchange(cluster.instances[client % cluster.instances.length]!, code),
        ),
      );
      const [winner, ...others] = answers.toSorted((one, other) => one.status - other.status);
      expect(winner!.status).toBe(200);
      for (const loser of others) expect(loser).toMatchObject(invalidCode);
      expect(new Set(others.map(({ body }) => JSON.stringify({ ...body, requestId: 'any' }))).size).toBe(1);
      const rows = await cluster.db.query('SELECT revoked_at FROM sessions WHERE user_id = ?', [ada.id]);
      expect(rows).toHaveLength(round + 2);
      // The losers used a code that was used already, so what it granted is revoked, on every instance.
      expect(rows.filter(({ revoked_at: revokedAt }) => revokedAt === null)).toHaveLength(1);
      for (const instance of cluster.instances)
        expect(await isAlive(ada.as(winner!.body.token).at(instance))).toBe(false);
    }
    expect((await ada.get('/api/me')).status).toBe(200);
  });

  it('are judged one by one when there are many codes', async () => {
    const [ada, revoked] = [await anAccount(service, 'ada'), await anAccount(service, 'revoked')];
    const codesOf = (account: Account, count: number) => Promise.all(times(count, () => aCode(account)));
    const statuses = async (codes: string[]) => {
      const answers = await Promise.all(codes.map((code) => exchange(service, code)));
      return answers.map(({ status }) => status).toSorted((a, b) => a - b);
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const [good, twice, used, dead] = [
        await codesOf(ada, 6),
        await aCode(ada),
        await aCode(ada),
        round === 0 ? await codesOf(revoked, 3) : [],
      ];
      if (round === 0)
        await cluster.db.query('UPDATE sessions SET revoked_at = 1 WHERE user_id = ?', [revoked.id]);
      expect((await exchange(service, used)).status).toBe(200);
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
    for (let round = 0; round < THEFTS; round += 1)
      rounds.push(await survivorsOfReuse(ada, { owner, thief, checks: cluster.instances }, round % 4));
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

import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  type MockInstance,
  vi,
} from 'vitest';
import type { DataSource } from 'typeorm';
import { SCHEMA } from '../../src/app/schema.js';
import type { CleanUp } from '../../src/clean-up/clean-up.js';
import { parseEnv } from '../../src/config/env.js';
import { migrate } from '../../src/database/migrate.js';
import { times } from '../support/at-once.js';
import { aCleanUp, aDeletion, aRevocation } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { recordStatements } from '../support/executed-statements.js';
import { invalidCode, invalidToken } from '../support/expected.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { aCode, anAccount } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { insertRows, insertSessions, sessionId, type SessionRow } from '../support/rows.js';

const NOW = 1_800_000_000_000;
const LEEWAY_MS = 30_000;
const BATCH = 100;
const BATCHES = 200;
const IN_ONE_RUN = BATCHES * BATCH;
const PILE = 2 * IN_ONE_RUN + 10_000;
const EXPIRED = NOW - LEEWAY_MS - 1;
const ALIVE = NOW + 1_000_000;

let installation: Installation;
let dataSource: DataSource;

beforeAll(async () => {
  installation = await anInstallation();
  await migrate(parseEnv(installation.env), SCHEMA);
});
beforeEach(async () => {
  dataSource = await aDataSource(installation);
});
afterEach(async () => {
  if (dataSource.isInitialized) await dataSource.destroy();
  for (const table of ['authorization_codes', 'pending_revocations', 'sessions', 'events', 'users'])
    await installation.db.query(`DELETE FROM ${table}`);
});
afterAll(() => installation.remove());

describe('the clean-up', () => {
  let cleanUp: CleanUp;

  beforeEach(() => {
    cleanUp = aCleanUp(dataSource);
  });

  async function left(table: 'sessions' | 'authorization_codes'): Promise<string[]> {
    const key = table === 'sessions' ? 'id' : 'hash';
    const rows = await dataSource.query<{ id: string }[]>(
      `SELECT ${key} AS id FROM ${table} ORDER BY ${key}`,
    );
    return rows.map(({ id }) => id);
  }

  const insertCodes = (codes: { hash: string; session_id: string; expires_at: number }[]) =>
    insertRows(dataSource, 'authorization_codes', codes, { created_at: 0 });

  /** A login and a branch below it, each session expiring so many milliseconds after the one before, the last at `until`. */
  function branch(length: number, until: number, apart = 1): SessionRow[] {
    return Array.from({ length }, (_, place) => ({
      id: sessionId(1 + place),
      expiresAt: until - (length - 1 - place) * apart,
      ...(place > 0 && { family: family(1, 2) }),
    }));
  }

  const family = (login: number, head: number) => ({
    loginId: sessionId(login),
    branchId: sessionId(head),
  });

  it('runs every other job where one fails, and then fails', async () => {
    await insertSessions(dataSource, [{ id: sessionId(1), expiresAt: NOW - LEEWAY_MS - 1 }]);
    const revocation = aRevocation(dataSource);
    revocation.resume = () => Promise.reject(new Error('out of order'));
    await expect(aCleanUp(dataSource, { revocation }).deleteExpired(NOW)).rejects.toThrow('out of order');
    expect(await left('sessions')).toEqual([]);
  });

  it('deletes rows that expired before the tolerated clock skew, to the millisecond', async () => {
    const ends = [-1, 0, 1].map((more) => NOW - LEEWAY_MS + more);
    await insertSessions(dataSource, [
      ...ends.map((expiresAt, place) => ({ id: sessionId(place + 1), expiresAt })),
      { id: sessionId(9), expiresAt: ALIVE },
    ]);
    await insertCodes(
      ends.map((time, place) => ({ hash: `code ${place + 1}`, session_id: sessionId(9), expires_at: time })),
    );

    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 2, hasMore: false });

    expect(await left('sessions')).toEqual([2, 3, 9].map(sessionId));
    expect(await left('authorization_codes')).toEqual(['code 2', 'code 3']);
  });

  it('keeps an expired session while one of its codes can be exchanged', async () => {
    await insertSessions(
      dataSource,
      [1, 2].map((number) => ({ id: sessionId(number), expiresAt: EXPIRED })),
    );
    await insertCodes([
      { hash: 'expired', session_id: sessionId(1), expires_at: EXPIRED },
      { hash: 'alive', session_id: sessionId(2), expires_at: ALIVE },
    ]);

    await cleanUp.deleteExpired(NOW);

    expect(await left('sessions')).toEqual([sessionId(2)]);
    expect(await left('authorization_codes')).toEqual(['alive']);
  });

  it('keeps an expired session while the code that opened it could open another', async () => {
    await insertSessions(dataSource, [
      { id: sessionId(1), expiresAt: ALIVE },
      { id: sessionId(2), expiresAt: EXPIRED, family: family(1, 2) },
    ]);
    await insertCodes([{ hash: sessionId(2), session_id: sessionId(1), expires_at: ALIVE }]);
    await cleanUp.deleteExpired(NOW);
    expect(await left('sessions')).toEqual([1, 2].map(sessionId));
  });

  it('deletes sessions that have ended, though they have not expired, once their codes are gone', async () => {
    const expiresAt = Date.now() + 1_000_000;
    const sessions = aDeletion(dataSource);
    cleanUp = aCleanUp(dataSource, { sessions });
    const opened = (number: number, head: number): SessionRow => ({
      id: sessionId(number),
      expiresAt,
      family: family(1, head),
    });
    await insertSessions(dataSource, [
      { id: sessionId(1), expiresAt },
      opened(2, 2),
      opened(3, 2),
      opened(4, 2),
      opened(9, 9),
      ...Array.from({ length: 2 * BATCH }, (_, place) => opened(10 + place, 10)),
    ]);
    await insertCodes([{ hash: sessionId(3), session_id: sessionId(1), expires_at: expiresAt }]);
    const user = { userId: sessionId(0) };
    const why = { actor: { kind: 'system' }, reason: 'logout' } as const;
    const revocation = aRevocation(dataSource, sessions);
    await revocation.revoke({ id: sessionId(3), ...user }, why);
    await revocation.revoke({ id: sessionId(10), ...user }, why);
    await revocation.settled();

    await cleanUp.deleteExpired();
    expect(await left('sessions')).toEqual([1, 2, 3, 9].map(sessionId));

    await dataSource.query('DELETE FROM authorization_codes');
    await cleanUp.deleteExpired();
    expect(await left('sessions')).toEqual([1, 9].map(sessionId));
  });

  it('deletes sessions that have ended only once their code has expired, whether or not it is there', async () => {
    const now = Date.now();
    const sessions = aDeletion(dataSource);
    cleanUp = aCleanUp(dataSource, { sessions });
    await insertSessions(dataSource, [
      { id: sessionId(1), expiresAt: now + 1_000_000 },
      { id: sessionId(2), expiresAt: now + 1_000_000, family: family(1, 2) },
    ]);
    await dataSource.query('UPDATE sessions SET revoked_at = ?, created_at = ? WHERE id = ?', [
      now,
      now,
      sessionId(2),
    ]);
    sessions.noteEnded(sessionId(0));

    await cleanUp.deleteExpired(now + 90_000);
    expect(await left('sessions')).toEqual([1, 2].map(sessionId));
    await cleanUp.deleteExpired(now + 90_001);
    expect(await left('sessions')).toEqual([sessionId(1)]);
  });

  it('keeps only the login and the head of a session that has not expired', async () => {
    await insertSessions(dataSource, [
      ...branch(3, EXPIRED),
      { id: sessionId(4), expiresAt: ALIVE, family: family(1, 2) },
      // another branch, and over
      { id: sessionId(10), expiresAt: EXPIRED - 1, family: family(1, 10) },
      { id: sessionId(11), expiresAt: EXPIRED, family: family(1, 10) },
    ]);

    expect(await cleanUp.deleteExpired(NOW)).toMatchObject({ deleted: 3 });
    expect(await left('sessions')).toEqual([1, 2, 4].map(sessionId));

    await cleanUp.deleteExpired(ALIVE + LEEWAY_MS + 1);
    expect(await left('sessions')).toEqual([]);
  });

  it.each([
    ['of several batches', 1],
    ['whose sessions all end at the same moment, as SESSION_MAX_AGE makes them', 0],
  ])('deletes a branch %s in one run', async (_which, apart) => {
    await insertSessions(dataSource, branch(2 * BATCH + 50, EXPIRED, apart));
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 2 * BATCH + 50, hasMore: false });
    expect(await left('sessions')).toEqual([]);
  });

  it('deletes codes of several batches in one run', async () => {
    await insertSessions(dataSource, [{ id: sessionId(1), expiresAt: ALIVE }]);
    const codes = times(2 * BATCH + 50, (number) => ({
      hash: `code ${number}`,
      session_id: sessionId(1),
      expires_at: EXPIRED,
    }));
    await insertCodes(codes);

    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: codes.length, hasMore: false });

    expect(await left('authorization_codes')).toEqual([]);
  });

  it('gets past rows that it must keep, however many, run by run', async () => {
    const kept = IN_ONE_RUN + 50;
    const logins = Array.from({ length: kept }, (_, place) => 2 + place);
    await insertSessions(dataSource, [
      { id: sessionId(1), expiresAt: 1 },
      ...logins.map((number) => ({ id: sessionId(number), expiresAt: EXPIRED - kept + number })),
      ...logins.map((number) => ({
        id: sessionId(kept + number),
        expiresAt: ALIVE,
        family: family(number, kept + number),
      })),
    ]);
    const executed = recordStatements(dataSource);

    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 0, hasMore: false });
    expect(executed.reduce((sum, { verb, rows }) => (verb === 'SELECT' ? sum + rows : sum), 0)).toBeLessThan(
      3 * kept,
    );
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 1, hasMore: false });

    expect(Math.max(...executed.map(({ rows }) => rows))).toBe(BATCH);
    expect(await left('sessions')).toHaveLength(2 * kept);
  });

  it('keeps what the reuse of a code has to revoke', async () => {
    await dataSource.destroy();
    const before = await startOwnService({ installation });
    const ada = await anAccount(before, 'ada');
    const code = await aCode(ada);
    const exchanged = await before.anyone.post<{ token: string }>('/api/auth/code/exchange', { code });
    const desktop = ada.as(exchanged.body.token);
    await before.stop();

    dataSource = await aDataSource(installation);
    expect(await left('authorization_codes')).toHaveLength(1);
    await aCleanUp(dataSource).deleteExpired(Date.now() + 60_000 + LEEWAY_MS + 1);
    expect(await left('authorization_codes')).toEqual([]);
    await dataSource.destroy();

    const after = await startOwnService({ installation });
    expect((await desktop.at(after).get('/api/me')).status).toBe(200);
    expect(await after.anyone.post('/api/auth/code/exchange', { code })).toMatchObject(invalidCode);
    expect(await desktop.at(after).get('/api/me')).toMatchObject(invalidToken);
    expect((await ada.at(after).get('/api/me')).status).toBe(200);
    await after.stop();
  });
});

/** A real file, and this process's own event loop: what one process does while it deletes. */
describe.runIf(engine === 'sqlite')('a pile of expired rows on SQLite', () => {
  let warn: MockInstance<Logger['warn']>;

  beforeEach(() => {
    vi.spyOn(Logger.prototype, 'debug').mockReturnValue();
    warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  async function count(): Promise<number> {
    const [row] = await dataSource.query<{ sessions: number }[]>('SELECT COUNT(*) AS sessions FROM sessions');
    return row!.sessions;
  }

  async function pile(sessions: number): Promise<void> {
    await insertSessions(dataSource, [{ id: sessionId(1), expiresAt: 1 }]);
    await dataSource.query(
      `INSERT INTO sessions (id, user_id, auth_time, created_at, expires_at)
        WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < ${sessions})
        SELECT printf('01a1fbf4-7ea2-724e-b0f0-%012d', n), '${sessionId(0)}', 0, 0, n FROM n`,
    );
  }

  it('is deleted in small statements that let other work run in between', async () => {
    await pile(PILE);
    const executed = recordStatements(dataSource);
    const cleanUp = aCleanUp(dataSource);

    let runs = 0;
    for (let hasMore = true; hasMore; runs += 1) {
      const before = executed.length;
      const result = await cleanUp.deleteExpired();
      hasMore = result.hasMore;
      const deletes = executed.slice(before).filter(({ verb }) => verb === 'DELETE');
      expect(deletes.length).toBeLessThanOrEqual(IN_ONE_RUN / BATCH);
      expect(new Set(deletes.map(({ turn }) => turn)).size).toBe(deletes.length);
    }

    expect(await count()).toBe(0);
    expect(runs).toBe(3);
    expect(Math.max(...executed.map(({ rows }) => rows))).toBe(BATCH);
  });

  /** Until so many are left: nothing of SQLite waits for a timer. */
  async function untilLeft(sessions: number): Promise<void> {
    while ((await count()) !== sessions) await setImmediate();
  }

  it('is continued within two seconds, and rows that expire later go within two minutes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await pile(IN_ONE_RUN + 5);
    const cleanUp = aCleanUp(dataSource);
    cleanUp.start();
    vi.advanceTimersByTime(40_000);
    await setImmediate();
    expect(await count()).toBe(IN_ONE_RUN + 5);

    vi.advanceTimersByTime(40_000);
    await untilLeft(5);
    await untilScheduled();
    vi.advanceTimersByTime(2000);
    await untilLeft(0);

    for (let round = 0; round < 3; round += 1) {
      await untilScheduled();
      await insertSessions(dataSource, [{ id: sessionId(1), expiresAt: 1 }]);
      vi.advanceTimersByTime(2000);
      await setImmediate();
      expect(await count()).toBe(1);
      vi.advanceTimersByTime(80_000);
      await untilLeft(0);
    }

    await untilScheduled();
    await cleanUp.onApplicationShutdown();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is retried after a failed run', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await pile(5);
    await dataSource.query('ALTER TABLE authorization_codes RENAME TO elsewhere');
    const cleanUp = aCleanUp(dataSource);
    cleanUp.start();
    vi.advanceTimersByTime(80_000);
    await untilScheduled();
    expect(warn).toHaveBeenCalledOnce();
    expect(await count()).toBe(5);

    await dataSource.query('ALTER TABLE elsewhere RENAME TO authorization_codes');
    vi.advanceTimersByTime(80_000);
    await untilLeft(0);
    await cleanUp.onApplicationShutdown();
  });

  async function untilScheduled(): Promise<void> {
    while (vi.getTimerCount() === 0) await setImmediate();
  }
});

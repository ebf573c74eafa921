import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
import { aCode, anAccount, exchange } from '../support/personas.js';
import { startOwnService } from '../support/service.js';
import { insertRow, insertRows, insertSessions, sessionId, type SessionRow } from '../support/rows.js';

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;
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

  const insert = (...sessions: SessionRow[]) => insertSessions(dataSource, sessions);
  const insertCodes = (codes: { hash: string; session: number; expiresAt: number }[]) => {
    const rows = codes.map((code) => ({
      hash: code.hash,
      session_id: sessionId(code.session),
      expires_at: code.expiresAt,
    }));
    return insertRows(dataSource, 'authorization_codes', rows, { created_at: 0 });
  };

  /** @param head of the branch, of a session that a code opened */
  const session = (number: number, expiresAt: number, head?: number, login = 1): SessionRow => ({
    id: sessionId(number),
    expiresAt,
    ...(head !== undefined && { family: { loginId: sessionId(login), branchId: sessionId(head) } }),
  });

  /** A login and a branch below it, each session expiring so many milliseconds after the one before, the last at `until`. */
  const branch = (length: number, until: number, apart = 1): SessionRow[] =>
    times(length, (place) =>
      session(1 + place, until - (length - 1 - place) * apart, place > 0 ? 2 : undefined),
    );

  it('runs every other job where one fails, and then fails', async () => {
    await insert(session(1, EXPIRED));
    const sessions = aDeletion(dataSource);
    sessions.deleteExpiredCodes = () => Promise.reject(new Error('out of order'));
    await expect(aCleanUp(dataSource, sessions).deleteExpired(NOW)).rejects.toThrow('out of order');
    expect(await left('sessions')).toEqual([]);
  });

  it('deletes rows that expired before the tolerated clock skew, to the millisecond', async () => {
    const ends = [-1, 0, 1].map((more) => NOW - LEEWAY_MS + more);
    await insert(...ends.map((end, place) => session(place + 1, end)), session(9, ALIVE));
    await insertCodes(ends.map((expiresAt, place) => ({ hash: `code ${place + 1}`, session: 9, expiresAt })));
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 2, hasMore: false });
    expect(await left('sessions')).toEqual([2, 3, 9].map(sessionId));
    expect(await left('authorization_codes')).toEqual(['code 2', 'code 3']);
  });

  it('deletes logins at providers a minute after they expired', async () => {
    const login = { provider_id: sessionId(7), subject: 'ada', email_verified: 1, created_at: 1 };
    const logins = [60_001, 60_000, -1].map((agoMs) => ({ hash: `${agoMs}`, expires_at: NOW - agoMs }));
    await insertRows(dataSource, 'provider_logins', logins, login);
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 1, hasMore: false });
    const kept = await dataSource.query<object[]>('SELECT hash FROM provider_logins ORDER BY expires_at');
    expect(kept).toEqual([{ hash: '60000' }, { hash: '-1' }]);
    await dataSource.query('DELETE FROM provider_logins');
  });

  it('deletes places of more than 90 days ago', async () => {
    const user = sessionId(7);
    await insertRow(dataSource, 'users', { id: user });
    const places = [91, 89].map((days) => ({
      network: `10.0.${days}.0/24`,
      last_seen_at: NOW - days * DAY_MS,
    }));
    await insertRows(dataSource, 'known_places', places, { user_id: user, agent: 'curl', first_seen_at: 1 });
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 1, hasMore: false });
    expect(await dataSource.query('SELECT network FROM known_places')).toEqual([{ network: '10.0.89.0/24' }]);
  });

  it('deletes API keys that expired 30 days ago, to the millisecond', async () => {
    const user = sessionId(7);
    await insertRow(dataSource, 'users', { id: user });
    const ends = [-1, 0].map((more) => NOW - 30 * DAY_MS + more);
    const keys = [...ends, ALIVE].map((end, place) => ({ id: sessionId(place), expires_at: end }));
    await insertRows(dataSource, 'api_keys', keys, { user_id: user });
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 1, hasMore: false });
    const kept = await dataSource.query('SELECT id FROM api_keys ORDER BY id');
    expect(kept).toEqual([1, 2].map((place) => ({ id: sessionId(place) })));
  });

  it('keeps an expired session while one of its codes can be exchanged', async () => {
    await insert(session(1, EXPIRED), session(2, EXPIRED));
    await insertCodes([
      { hash: 'expired', session: 1, expiresAt: EXPIRED },
      { hash: 'alive', session: 2, expiresAt: ALIVE },
    ]);
    await cleanUp.deleteExpired(NOW);
    expect(await left('sessions')).toEqual([sessionId(2)]);
    expect(await left('authorization_codes')).toEqual(['alive']);
  });

  it('keeps an expired session while the code that opened it could open another', async () => {
    await insert(session(1, ALIVE), session(2, EXPIRED, 2));
    await insertCodes([{ hash: sessionId(2), session: 1, expiresAt: ALIVE }]);
    await cleanUp.deleteExpired(NOW);
    expect(await left('sessions')).toEqual([1, 2].map(sessionId));
  });

  it('deletes sessions that have ended, though they have not expired, once their codes are gone', async () => {
    const expiresAt = Date.now() + 1_000_000;
    const sessions = aDeletion(dataSource);
    cleanUp = aCleanUp(dataSource, sessions);
    const heads = { 2: 2, 3: 2, 4: 2, 9: 9 };
    const opened = Object.entries(heads).map(([number, head]) => session(Number(number), expiresAt, head));
    const more = times(2 * BATCH, (place) => session(10 + place, expiresAt, 10));
    await insert(session(1, expiresAt), ...opened, ...more);
    await insertCodes([{ hash: sessionId(3), session: 1, expiresAt }]);
    const why = { actor: { kind: 'system' }, reason: 'logout' } as const;
    const revocation = aRevocation(dataSource, sessions);
    await revocation.revoke(sessionId(3), why);
    await revocation.revoke(sessionId(10), why);
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
    cleanUp = aCleanUp(dataSource, sessions);
    await insert(session(1, now + 1_000_000), session(2, now + 1_000_000, 2));
    const end = 'UPDATE sessions SET revoked_at = ?, created_at = ? WHERE id = ?';
    await dataSource.query(end, [now, now, sessionId(2)]);
    sessions.noteEnded(sessionId(0));

    await cleanUp.deleteExpired(now + 90_000);
    expect(await left('sessions')).toEqual([1, 2].map(sessionId));
    await cleanUp.deleteExpired(now + 90_001);
    expect(await left('sessions')).toEqual([sessionId(1)]);
  });

  it('keeps only the login and the head of a session that has not expired', async () => {
    // Another branch is over.
    const over = [session(10, EXPIRED - 1, 10), session(11, EXPIRED, 10)];
    await insert(...branch(3, EXPIRED), session(4, ALIVE, 2), ...over);
    expect(await cleanUp.deleteExpired(NOW)).toMatchObject({ deleted: 3 });
    expect(await left('sessions')).toEqual([1, 2, 4].map(sessionId));
    await cleanUp.deleteExpired(ALIVE + LEEWAY_MS + 1);
    expect(await left('sessions')).toEqual([]);
  });

  it.each([
    ['of several batches', 1],
    ['whose sessions all end at the same moment, as SESSION_MAX_AGE makes them', 0],
  ])('deletes a branch %s in one run', async (_which, apart) => {
    await insert(...branch(2 * BATCH + 50, EXPIRED, apart));
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 2 * BATCH + 50, hasMore: false });
    expect(await left('sessions')).toEqual([]);
  });

  it('deletes codes of several batches in one run', async () => {
    await insert(session(1, ALIVE));
    const codes = times(2 * BATCH + 50, (number) => ({ hash: `${number}`, session: 1, expiresAt: EXPIRED }));
    await insertCodes(codes);
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: codes.length, hasMore: false });
    expect(await left('authorization_codes')).toEqual([]);
  });

  it('gets past rows that it must keep, however many, run by run', async () => {
    const kept = IN_ONE_RUN + 50;
    const logins = times(kept, (place) => 2 + place);
    await insertSessions(dataSource, [
      session(1, 1),
      ...logins.map((number) => session(number, EXPIRED - kept + number)),
      ...logins.map((number) => session(kept + number, ALIVE, kept + number, number)),
    ]);
    const executed = recordStatements(dataSource);

    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 0, hasMore: false });
    const read = executed.reduce((sum, { verb, rows }) => (verb === 'SELECT' ? sum + rows : sum), 0);
    expect(read).toBeLessThan(3 * kept);
    expect(await cleanUp.deleteExpired(NOW)).toEqual({ deleted: 1, hasMore: false });

    expect(Math.max(...executed.map(({ rows }) => rows))).toBe(BATCH);
    expect(await left('sessions')).toHaveLength(2 * kept);
  });

  it('keeps what the reuse of a code has to revoke', async () => {
    await dataSource.destroy();
    const before = await startOwnService({ installation });
    const ada = await anAccount(before, 'ada');
    const code = await aCode(ada);
    const desktop = ada.as((await exchange(before, code)).body.token);
    await before.stop();

    dataSource = await aDataSource(installation);
    expect(await left('authorization_codes')).toHaveLength(1);
    await aCleanUp(dataSource).deleteExpired(Date.now() + 60_000 + LEEWAY_MS + 1);
    expect(await left('authorization_codes')).toEqual([]);
    await dataSource.destroy();

    const after = await startOwnService({ installation });
    expect((await desktop.at(after).get('/api/me')).status).toBe(200);
    expect(await exchange(after, code)).toMatchObject(invalidCode);
    expect(await desktop.at(after).get('/api/me')).toMatchObject(invalidToken);
    expect((await ada.at(after).get('/api/me')).status).toBe(200);
    await after.stop();
  });
});

/** A real file, and this process's own event loop: what one process does while it deletes. */
describe.runIf(engine === 'sqlite')('a pile of expired rows on SQLite', () => {
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

  it('is continued after a second while a run leaves rows, and not once the process stops', async () => {
    const { signal } = new AbortController();
    await pile(IN_ONE_RUN + 5);
    const cleanUp = aCleanUp(dataSource);
    await cleanUp.run(AbortSignal.abort());
    expect(await count()).toBe(IN_ONE_RUN + 5);

    expect(await cleanUp.run(signal)).toBe(1000);
    expect(await count()).toBe(5);
    expect(await cleanUp.run(signal)).toBeUndefined();
    expect(await count()).toBe(0);
    await insertSessions(dataSource, [{ id: sessionId(1), expiresAt: 1 }]);
    expect(await cleanUp.run(signal)).toBeUndefined();
    expect(await count()).toBe(0);
  });

  it('goes with the run after a failed one', async () => {
    const { signal } = new AbortController();
    await pile(5);
    await dataSource.query('ALTER TABLE authorization_codes RENAME TO elsewhere');
    const cleanUp = aCleanUp(dataSource);
    await expect(cleanUp.run(signal)).rejects.toThrow('no such table');
    expect(await count()).toBe(5);

    await dataSource.query('ALTER TABLE elsewhere RENAME TO authorization_codes');
    await cleanUp.run(signal);
    expect(await count()).toBe(0);
  });
});

import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import type { SessionRevocation } from '../../src/auth/sessions/session-revocation.js';
import type { Revocation } from '../../src/auth/sessions/revocation.js';
import { aRevocation } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { insertSessions, sessionId, type SessionRow } from '../support/session-rows.js';

const PAGE = 500;
const USER = sessionId(0);
const LATER = Date.now() + 1_000_000;
const ROOT = 1;
/** A search, and a transaction that ends what it found. */
const OF_A_PAGE = 8;
const SEARCH = 'SELECT id, revoked_at';

const BY_SERVICE: Revocation = { actor: { kind: 'system' }, reason: 'code_reused' };
const SERVICE_COLUMNS = {
  actor_type: 'system',
  actor_id: null,
  actor_session_id: null,
  request_id: null,
  ip: null,
};
const BY_USER: Revocation = {
  actor: {
    kind: 'user',
    id: USER,
    sessionId: sessionId(ROOT),
    parentId: null,
    requestId: 'a-request',
    address: '198.51.100.7',
  },
  reason: 'logout',
};
const USER_COLUMNS = {
  actor_type: 'user',
  actor_id: USER,
  actor_session_id: sessionId(ROOT),
  request_id: 'a-request',
  ip: '198.51.100.7',
};

/** The service's own code on a real database, which the test changes meanwhile. */
describe('ending a session with all that was derived from it', () => {
  let installation: Installation;
  let dataSource: DataSource;
  let revocation: SessionRevocation;

  beforeAll(async () => {
    installation = await anInstallation();
    dataSource = await aDataSource(installation);
    await dataSource.runMigrations({ transaction: 'each' });
    await dataSource.destroy();
  });
  afterAll(() => installation.remove());

  beforeEach(async () => {
    dataSource = await aDataSource(installation);
    revocation = aRevocation(dataSource);
    await insertSessions(dataSource, [session(ROOT)]);
  });

  afterEach(async () => {
    await dataSource.destroy();
    for (const table of ['pending_revocations', 'sessions', 'users', 'events']) {
      await installation.db.force(`DELETE FROM ${table}`);
    }
  });

  function session(number: number, parent?: number): SessionRow {
    return {
      id: sessionId(number),
      expiresAt: LATER,
      ...(parent !== undefined && { parentId: sessionId(parent) }),
    };
  }

  const end = (number: number, by: Revocation = BY_SERVICE): Promise<void> =>
    revocation.revoke({ id: sessionId(number), userId: USER }, by);

  const told = () =>
    dataSource.query<object[]>(
      `SELECT session_id, actor_type, actor_id, actor_session_id, request_id, ip, data FROM events
        WHERE type = 'session.ended' AND user_id = ? ORDER BY session_id`,
      [USER],
    );
  const toldBy = (number: number, { reason }: Revocation, actor: object) => ({
    session_id: sessionId(number),
    ...actor,
    data: JSON.stringify({ reason }),
  });

  async function unrevoked(): Promise<number> {
    const [row] = await dataSource.query<{ count: number | string }[]>(
      'SELECT COUNT(*) AS count FROM sessions WHERE revoked_at IS NULL',
    );
    return Number(row!.count);
  }

  function interceptStatements(meanwhile: (sql: string, values: unknown[]) => Promise<void>): void {
    const create = dataSource.createQueryRunner.bind(dataSource);
    dataSource.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<never>;
      runner.query = async (sql: string, values: unknown[] = [], ...rest: unknown[]) => {
        await meanwhile(sql, values);
        return query(sql, values, ...rest);
      };
      return runner;
    };
  }

  it('revokes sessions derived, two generations deep, while it runs', async () => {
    await insertSessions(dataSource, [session(2, ROOT), session(3, 2)]);
    let passes = 0;
    interceptStatements(async (sql, values) => {
      if (!sql.startsWith(SEARCH) || !values.includes(sessionId(ROOT))) return;
      passes += 1;
      if (passes === 2) await insertSessions(dataSource, [session(4, 3), session(5, 4)]);
    });

    await end(ROOT);

    expect(passes).toBe(3);
    expect(await unrevoked()).toBe(0);
  });

  it.each([
    ['one below the other', (number: number) => number - 1],
    ['side by side', () => ROOT],
    ['in bunches', (number: number) => Math.max(ROOT, Math.floor((number - 2) / 700) * 700)],
    ['crosswise', (number: number) => (number <= 3 ? ROOT : number <= 3 + PAGE + 100 ? 3 : 2)],
  ])('reads and writes in bounded pages, however many there are, %s', async (_how, parentOf) => {
    const count = 3 * PAGE + 7;
    await insertSessions(
      dataSource,
      Array.from({ length: count }, (_, index) => session(index + 2, parentOf(index + 2))),
    );
    await insertSessions(dataSource, [session(90_000)]);
    const executed = recordStatements(dataSource);

    await end(ROOT);

    expect(await unrevoked()).toBe(1);
    expect(Math.max(...executed.map(({ rows }) => rows))).toBe(PAGE);
    const ofTurns = Map.groupBy(executed, ({ turn }) => turn);
    expect(Math.max(...Array.from(ofTurns.values(), ({ length }) => length))).toBeLessThanOrEqual(OF_A_PAGE);
  });

  it('does not search below completed sessions again when a chain of codes is reused one by one', async () => {
    const count = 100;
    await insertSessions(
      dataSource,
      Array.from({ length: count }, (_, index) => session(index + 2, index + 1)),
    );
    await end(ROOT);
    const executed = recordStatements(dataSource);

    await Promise.all(Array.from({ length: count }, (_, index) => end(index + 2)));

    // Each is found to be revoked and noted in a transaction, found to be done with, and no longer noted.
    expect(executed.length).toBeLessThanOrEqual(6 * count);
  });

  it('searches once for simultaneous reuses of one user', async () => {
    const count = 100;
    await insertSessions(
      dataSource,
      Array.from({ length: count }, (_, index) => session(index + 2, index + 1)),
    );
    const executed = recordStatements(dataSource);

    await Promise.all(Array.from({ length: count }, (_, index) => end(index + 1)));

    expect(await unrevoked()).toBe(0);
    // A few passes over the chain, and one lookup for each use.
    expect(executed.length).toBeLessThan(12 * count);
  });

  it('continues with the next reuse of a user after a failed one', async () => {
    await insertSessions(dataSource, [session(2, ROOT), session(3, 2)]);
    let failed = false;
    interceptStatements(async (sql) => {
      if (!sql.startsWith(SEARCH) || failed) return;
      failed = true;
      while ((await unrevoked()) > 1) await setImmediate();
      throw new Error('interrupted');
    });

    const endings = await Promise.allSettled([end(ROOT), end(2)]);

    expect(endings.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await unrevoked()).toBe(0);
  });

  it('has ended nothing where it broke off before the session itself', async () => {
    await insertSessions(dataSource, [session(2, ROOT)]);
    breakOffAt('UPDATE');
    await expect(end(ROOT)).rejects.toThrow('broken off');

    expect(await unrevoked()).toBe(2);
    expect(await dataSource.query('SELECT * FROM pending_revocations')).toEqual([]);
    expect(await dataSource.query('SELECT * FROM events')).toEqual([]);
  });

  it('is completed later where it broke off after the session itself', async () => {
    await insertSessions(dataSource, [session(2, ROOT), session(3, 2), session(4, 3)]);
    const mend = breakOffAt(SEARCH);
    await expect(end(ROOT)).rejects.toThrow('broken off');
    mend();
    expect(await unrevoked()).toBe(3);

    await aRevocation(dataSource).resume(Date.now() + 1);

    expect(await unrevoked()).toBe(0);
    expect(await dataSource.query('SELECT * FROM pending_revocations')).toEqual([]);
    expect(await told()).toEqual([1, 2, 3, 4].map((number) => toldBy(number, BY_SERVICE, SERVICE_COLUMNS)));
  });

  it('tells of each session once, by whom and why, and of none that had ended already', async () => {
    await insertSessions(dataSource, [
      session(2, ROOT),
      session(3, 2),
      { ...session(4, ROOT), expiresAt: Date.now() - 60_000 },
      session(5, ROOT),
      session(6, 4),
      session(7, ROOT),
    ]);
    await dataSource.query('UPDATE users SET auth_epoch = 1');
    await dataSource.query('UPDATE sessions SET auth_epoch = 1 WHERE id <> ?', [sessionId(7)]);
    await end(5);

    await Promise.all([end(ROOT, BY_USER), end(ROOT, BY_USER)]);

    expect(await unrevoked()).toBe(0);
    expect(await told()).toEqual([
      ...[1, 2, 3].map((number) => toldBy(number, BY_USER, USER_COLUMNS)),
      toldBy(5, BY_SERVICE, SERVICE_COLUMNS),
      toldBy(6, BY_USER, USER_COLUMNS),
    ]);
  });

  it('is told alike by whoever goes on where it broke off, between two pages too', async () => {
    const count = PAGE + 100;
    await insertSessions(
      dataSource,
      Array.from({ length: count }, (_, index) => session(index + 2, ROOT)),
    );
    let pages = 0;
    interceptStatements((sql) =>
      sql.startsWith('INSERT INTO events') && (pages += 1) === 3
        ? Promise.reject(new Error('interrupted'))
        : Promise.resolve(),
    );
    await expect(end(ROOT, BY_USER)).rejects.toThrow('broken off');
    expect(await unrevoked()).toBe(100);
    expect(await told()).toHaveLength(1 + PAGE);

    await aRevocation(dataSource).resume(Date.now() + 1);

    expect(await told()).toEqual(
      Array.from({ length: 1 + count }, (_, index) => toldBy(index + 1, BY_USER, USER_COLUMNS)),
    );
  });

  it('is completed where an instance of the version before began it, and told as far as it is known', async () => {
    await insertSessions(dataSource, [session(2, ROOT)]);
    await dataSource.query('UPDATE sessions SET revoked_at = 1 WHERE id = ?', [sessionId(ROOT)]);
    await noteBegun(1000);

    await revocation.resume(1001);

    expect(await told()).toEqual([toldBy(2, { ...BY_SERVICE, reason: 'revoked' }, SERVICE_COLUMNS)]);
  });

  it('tells nothing of a user who is deleted meanwhile', async () => {
    await insertSessions(dataSource, [session(2, ROOT)]);
    let deleted = false;
    interceptStatements(async (sql) => {
      if (!sql.startsWith(SEARCH) || deleted) return;
      deleted = true;
      await dataSource.query('DELETE FROM users WHERE id = ?', [USER]);
    });

    await end(ROOT, BY_USER);

    expect(deleted).toBe(true);
    expect(await told()).toEqual([toldBy(ROOT, BY_USER, USER_COLUMNS)]);
  });

  /** Notes it as the version before this one did. */
  async function noteBegun(since: number): Promise<void> {
    await dataSource.query('INSERT INTO pending_revocations (session_id, user_id, since) VALUES (?, ?, ?)', [
      sessionId(ROOT),
      USER,
      since,
    ]);
  }

  /** Statements that begin so fail until what it returns is called. */
  function breakOffAt(statement: string): () => void {
    let broken = true;
    interceptStatements((sql) =>
      broken && sql.startsWith(statement) ? Promise.reject(new Error('interrupted')) : Promise.resolve(),
    );
    return () => (broken = false);
  }

  it('leaves alone what another instance began just now', async () => {
    await insertSessions(dataSource, [session(2, ROOT)]);
    await noteBegun(1000);

    await revocation.resume(1000);

    expect(await unrevoked()).toBe(2);
  });
});

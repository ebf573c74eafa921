import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import type { SessionRevocation } from '../../src/auth/sessions/session-revocation.js';
import { aRevocation } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { insertSessions, sessionId, type SessionRow } from '../support/session-rows.js';

const PAGE = 500;
const USER = sessionId(0);
const LATER = Date.now() + 1_000_000;
const ROOT = 1;

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
    for (const table of ['pending_revocations', 'sessions', 'events']) {
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

  const end = (number: number): Promise<void> =>
    revocation.revoke(
      { id: sessionId(number), userId: USER },
      { actor: { kind: 'system' }, reason: 'code_reused' },
    );

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
    let born = false;
    interceptStatements(async (sql, values) => {
      if (!sql.startsWith('UPDATE') || !values.includes(sessionId(3)) || born) return;
      born = true;
      await insertSessions(dataSource, [session(4, 3), session(5, 4)]);
    });

    await end(ROOT);

    expect(born).toBe(true);
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
    const turns = executed.map(({ turn }) => turn);
    expect(new Set(turns).size).toBeGreaterThan(turns.length / 2);
  });

  it('does not search below completed sessions again when a chain of codes is reused one by one', async () => {
    const count = 200;
    await insertSessions(
      dataSource,
      Array.from({ length: count }, (_, index) => session(index + 2, index + 1)),
    );
    await end(ROOT);
    const executed = recordStatements(dataSource);

    await Promise.all(Array.from({ length: count }, (_, index) => end(index + 2)));

    // Each is noted and revoked in a transaction, found to be done with, and no longer noted.
    expect(executed.length).toBeLessThanOrEqual(5 * count);
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
    // A few passes over the chain, and one look-up for each use.
    expect(executed.length).toBeLessThan(10 * count);
  });

  it('continues with the next reuse of a user after a failed one', async () => {
    await insertSessions(dataSource, [session(2, ROOT), session(3, 2)]);
    let failed = false;
    interceptStatements(async (sql) => {
      if (!sql.startsWith('SELECT') || failed) return;
      failed = true;
      while ((await unrevoked()) > 1) await setImmediate();
      throw new Error('broken off');
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
    const mend = breakOffAt('SELECT');
    await expect(end(ROOT)).rejects.toThrow('broken off');
    mend();
    expect(await unrevoked()).toBe(3);

    await aRevocation(dataSource).resume(Date.now() + 1);

    expect(await unrevoked()).toBe(0);
    expect(await dataSource.query('SELECT * FROM pending_revocations')).toEqual([]);
    expect(await dataSource.query('SELECT type, session_id AS id FROM events')).toEqual([
      { type: 'session.ended', id: sessionId(ROOT) },
    ]);
  });

  /** Statements that begin so fail until what it returns is called. */
  function breakOffAt(statement: string): () => void {
    let broken = true;
    interceptStatements((sql) =>
      broken && sql.startsWith(statement) ? Promise.reject(new Error('broken off')) : Promise.resolve(),
    );
    return () => (broken = false);
  }

  it('leaves alone what another instance began just now', async () => {
    await insertSessions(dataSource, [session(2, ROOT)]);
    await dataSource.query('INSERT INTO pending_revocations (session_id, user_id, since) VALUES (?, ?, ?)', [
      sessionId(ROOT),
      USER,
      1000,
    ]);

    await revocation.resume(1000);

    expect(await unrevoked()).toBe(2);
  });
});

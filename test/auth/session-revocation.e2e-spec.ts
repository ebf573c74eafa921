import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Revocation } from '../../src/auth/sessions/pending-revocations.repository.js';
import type { SessionRevocation } from '../../src/auth/sessions/session-revocation.js';
import { atOnce, times } from '../support/at-once.js';
import { aDeletion, aLiveSessionsLimit, aRevocation } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { anInstallation } from '../support/installation.js';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { insertRows, insertSessions, sessionId, type SessionRow } from '../support/rows.js';

const PAGE = 500;
const LIVE_LIMIT = 1000;
const LOOK_EVERY = 32;
const USER = sessionId(0);
const LATER = Date.now() + 1_000_000;
/** the login */
const ROOT = 1;
/** A search, and a transaction that ends what it found. */
const OF_A_PAGE = 8;
const SEARCH = 'SELECT id FROM sessions WHERE login_id';

const BY_SERVICE: Revocation = { actor: { kind: 'system' }, reason: 'code_reused' };
const BY_LOGOUT: Revocation = { actor: { kind: 'system' }, reason: 'logout' };
const BY_USER: Revocation = {
  actor: {
    kind: 'user',
    id: USER,
    sessionId: sessionId(ROOT),
    isDelegated: false,
    requestId: 'a-request',
    address: '198.51.100.7',
  },
  reason: 'logout',
};
const USER_COLUMNS = {
  actor_id: USER,
  actor_session_id: sessionId(ROOT),
  request_id: 'a-request',
  ip: '198.51.100.7',
};
const NO_COLUMNS = { actor_id: null, actor_session_id: null, request_id: null, ip: null };

const installation = await anInstallation();
let dataSource: DataSource = await aDataSource(installation);
await dataSource.runMigrations({ transaction: 'each' });
await dataSource.destroy();
afterAll(() => installation.remove());

/** The service's own code on a real database, which the test changes meanwhile. */
describe('revoking a session with its family', () => {
  let revocation: SessionRevocation;

  beforeEach(async () => {
    dataSource = await aDataSource(installation);
    revocation = aRevocation(dataSource);
    await insert([session(ROOT)]);
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await dataSource.destroy();
    for (const table of ['pending_revocations', 'sessions', 'users', 'events'])
      await installation.db.force(`DELETE FROM ${table}`);
  });

  /** A login, or a session below the login ROOT. */
  const session = (number: number, head?: number) => ({
    id: sessionId(number),
    expiresAt: LATER,
    ...(head !== undefined && { family: { loginId: sessionId(ROOT), branchId: sessionId(head) } }),
  });

  const insert = (sessions: SessionRow[]) => insertSessions(dataSource, sessions);
  const pending = () => dataSource.query('SELECT session_id FROM pending_revocations');

  async function end(number: number, by: Revocation = BY_SERVICE): Promise<void> {
    await revocation.revoke(sessionId(number), by);
    await revocation.settled();
  }

  const told = () =>
    dataSource.query<object[]>(
      `SELECT session_id, actor_type, actor_id, actor_session_id, request_id, ip, data FROM events
        WHERE type = 'session.ended' AND user_id = ? ORDER BY session_id`,
      [USER],
    );
  const toldBy = (number: number, { reason, actor }: Revocation) => ({
    session_id: sessionId(number),
    actor_type: actor.kind,
    ...(actor.kind === 'user' ? USER_COLUMNS : NO_COLUMNS),
    data: JSON.stringify({ reason }),
  });

  const unrevoked = async (): Promise<number> =>
    (await dataSource.query<object[]>('SELECT id FROM sessions WHERE revoked_at IS NULL')).length;

  /** One is awaited before each statement, the other one after it. */
  function interceptStatements(
    before: (sql: string) => Promise<void> | void,
    after: (sql: string) => Promise<void> | void = () => undefined,
  ): void {
    const create = dataSource.createQueryRunner.bind(dataSource);
    dataSource.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<never>;
      runner.query = async (sql: string, ...rest: unknown[]) => {
        await before(sql);
        const result = await query(sql, ...rest);
        await after(sql);
        return result;
      };
      return runner;
    };
  }

  function interruptIf(isIt: (sql: string) => boolean): void {
    interceptStatements((sql) => {
      if (isIt(sql)) throw new Error('interrupted');
    });
  }

  it('is done for the caller once the login is marked; the rest follows', async () => {
    await insert([session(2, 2)]);
    const held = Promise.withResolvers<void>();
    interceptStatements((sql) => (sql.startsWith(SEARCH) ? held.promise : undefined));
    await revocation.revoke(sessionId(ROOT), BY_SERVICE);
    expect(await unrevoked()).toBe(1);
    expect(await pending()).toHaveLength(1);
    held.resolve();
    await revocation.settled();
    expect(await unrevoked()).toBe(0);
    expect(await pending()).toEqual([]);
  });

  it.each([
    ['in one branch', () => 2],
    ['in many', (number: number) => number],
    ['in bunches', (number: number) => Math.max(2, number - (number % 700))],
  ])('reads and writes in bounded pages, however many there are, %s', async (_how, headOf) => {
    await insert(times(3 * PAGE + 7, (index) => session(index + 2, headOf(index + 2))));
    await insert([session(90_000)]);
    const executed = recordStatements(dataSource);
    await end(ROOT);
    expect(await unrevoked()).toBe(1);
    expect(Math.max(...executed.map(({ rows }) => rows))).toBe(PAGE);
    const ofTurns = Map.groupBy(executed, ({ turn }) => turn);
    expect(Math.max(...Array.from(ofTurns.values(), ({ length }) => length))).toBeLessThanOrEqual(OF_A_PAGE);
  });

  it('is completed later if it was interrupted after the session itself', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    await insert([session(2, 2), session(3, 2), session(4, 4)]);
    let broken = true;
    interruptIf((sql) => broken && sql.startsWith(SEARCH));
    await end(ROOT);
    broken = false;
    expect(await unrevoked()).toBe(3);
    expect(warn).toHaveBeenCalledOnce();
    await aRevocation(dataSource).resume();
    expect(await unrevoked()).toBe(0);
    expect(await pending()).toEqual([]);
    expect(await told()).toEqual([1, 2, 3, 4].map((number) => toldBy(number, BY_SERVICE)));
  });

  it('tells of each session once, by whom and why, and of none that had ended already', async () => {
    const expired = { ...session(4, 4), expiresAt: Date.now() - 60_000 };
    await insert([session(2, 2), session(3, 2), expired, session(5, 5), session(6, 4), session(7, 7)]);
    await dataSource.query('UPDATE users SET auth_epoch = 1');
    await dataSource.query('UPDATE sessions SET auth_epoch = 1 WHERE id <> ?', [sessionId(7)]);
    await end(5);
    await Promise.all([end(ROOT, BY_USER), end(ROOT, BY_USER)]);
    expect(await unrevoked()).toBe(0);
    expect(await told()).toEqual([
      ...[1, 2, 3].map((number) => toldBy(number, BY_USER)),
      toldBy(5, BY_SERVICE),
      toldBy(6, BY_USER),
    ]);
  });

  it('tells of the login or head in the first transaction, even if it has expired', async () => {
    const expiredAt = Date.now() - 60_000;
    await insert([
      { ...session(2, 2), expiresAt: expiredAt },
      session(3, 2),
      { ...session(4, 4), expiresAt: 0 },
    ]);
    await dataSource.query('UPDATE sessions SET expires_at = ? WHERE id = ?', [expiredAt, sessionId(ROOT)]);
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    interruptIf((sql) => sql.startsWith('SELECT id FROM sessions WHERE'));
    await end(3);
    await end(ROOT, BY_LOGOUT);
    expect(await told()).toEqual([toldBy(ROOT, BY_LOGOUT), toldBy(2, BY_SERVICE)]);
  });

  it('can be repeated if it failed', async () => {
    let failures = 0;
    interruptIf((sql) => sql.includes('sessions') && (failures += 1) === 1);
    await expect(end(ROOT)).rejects.toThrow('interrupted');
    expect(await unrevoked()).toBe(1);
    await end(ROOT);
    expect(await told()).toEqual([toldBy(ROOT, BY_SERVICE)]);
  });

  it('includes a session that a code opens between two pages', async () => {
    await insert([session(3, 3)]);
    let searches = 0;
    interceptStatements(async (sql) => {
      if (sql.startsWith(SEARCH) && (searches += 1) === 2) await insert([session(2, 2)]);
    });
    await end(ROOT);
    expect(await told()).toEqual([1, 2, 3].map((number) => toldBy(number, BY_SERVICE)));
    expect([await unrevoked(), await pending()]).toEqual([0, []]);
  });

  it('is completed with the same events if it was interrupted between two pages', async () => {
    const count = PAGE + 100;
    await insert(times(count, (index) => session(index + 2, index + 2)));
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    let pages = 0;
    interruptIf((sql) => sql.startsWith('INSERT INTO events') && (pages += 1) === 3);
    await end(ROOT, BY_USER);
    expect(await unrevoked()).toBe(100);
    expect(await told()).toHaveLength(1 + PAGE);
    await aRevocation(dataSource).resume();
    expect(await told()).toEqual(times(1 + count, (index) => toldBy(index + 1, BY_USER)));
  });

  it('tells nothing of a user who is deleted meanwhile', async () => {
    await insert([session(2, 2)]);
    let deleted = false;
    interceptStatements(async (sql) => {
      if (!sql.startsWith(SEARCH) || deleted) return;
      deleted = true;
      await dataSource.query('DELETE FROM users WHERE id = ?', [USER]);
    });
    await end(ROOT, BY_USER);
    expect(deleted).toBe(true);
    expect(await told()).toEqual([toldBy(ROOT, BY_USER)]);
  });

  /** As a process leaves it that is killed once it has marked the login. */
  async function leaveMarked(): Promise<void> {
    await insert([session(2, 2), session(3, 2), session(4, 4)]);
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
    let broken = true;
    interruptIf((sql) => broken && sql.startsWith(SEARCH));
    await end(ROOT, BY_USER);
    broken = false;
    // By the clock of that process, which was ahead.
    await dataSource.query('UPDATE pending_revocations SET since = ?', [Date.now() + 3_600_000]);
  }
  const toldOfAll = [1, 2, 3, 4].map((number) => toldBy(number, BY_USER));

  it('is continued by another process that finds it twice, or that has just started', async () => {
    const other = aRevocation(dataSource);
    await other.resume();
    await leaveMarked();
    await other.resume();
    expect(await unrevoked()).toBe(3);
    await other.resume();
    expect([await unrevoked(), await pending(), await told()]).toEqual([0, [], toldOfAll]);

    await dataSource.query('DELETE FROM events');
    await insert([session(5, 5)]);
    const sql = `INSERT INTO pending_revocations (session_id, user_id, since, reason) VALUES (?, ?, 1, 'revoked')`;
    await dataSource.query(sql, [sessionId(ROOT), USER]);
    await aRevocation(dataSource).resume();
    expect([await unrevoked(), await pending()]).toEqual([0, []]);
  });

  it('is continued by no other work of the process that is at it', async () => {
    await insert([session(2, 2)]);
    const [searching, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let searches = 0;
    interceptStatements((sql) => {
      if (!sql.startsWith(SEARCH)) return undefined;
      searches += 1;
      searching.resolve();
      return held.promise;
    });
    await revocation.revoke(sessionId(ROOT), BY_SERVICE);
    await searching.promise;
    await revocation.resume();
    await revocation.resume();
    expect(searches).toBe(1);
    held.resolve();
    await revocation.settled();
    expect([await unrevoked(), await pending()]).toEqual([0, []]);
  });

  it('is left to other processes, unfinished, by one that stops', async () => {
    await leaveMarked();
    await aRevocation(dataSource).resume(AbortSignal.abort());
    const stopped = aRevocation(dataSource);
    await stopped.onApplicationShutdown();
    await stopped.resume();
    expect([await unrevoked(), (await pending()).length]).toEqual([3, 1]);
  });

  it('is done once although two processes find the same sessions', async () => {
    await leaveMarked();
    const both = Promise.withResolvers<void>();
    let found = 0;
    const untilBothHave = (sql: string): Promise<void> | void => {
      if (!sql.startsWith(SEARCH)) return;
      if ((found += 1) === 2) both.resolve();
      return both.promise;
    };
    interceptStatements(() => undefined, untilBothHave);
    await atOnce([aRevocation(dataSource), aRevocation(dataSource)].map((one) => () => one.resume()));
    expect([await unrevoked(), await pending(), await told()]).toEqual([0, [], toldOfAll]);
  });

  it('is continued although that of another family fails', async () => {
    await insert([session(2, 2), session(50), session(51, 51)]);
    await dataSource.query('UPDATE sessions SET login_id = ? WHERE id = ?', [sessionId(50), sessionId(51)]);
    const left = [ROOT, 50].map((number) => ({ session_id: sessionId(number), since: number }));
    await insertRows(dataSource, 'pending_revocations', left, { user_id: USER, reason: 'logout' });
    let searches = 0;
    interruptIf((sql) => sql.startsWith(SEARCH) && (searches += 1) === 1);
    await expect(revocation.resume()).rejects.toThrow('interrupted');
    await revocation.settled();
    expect([await told(), (await pending()).length]).toEqual([[toldBy(51, BY_LOGOUT)], 1]);
    await revocation.resume();
    expect([await told(), (await pending()).length]).toEqual([[2, 51].map((n) => toldBy(n, BY_LOGOUT)), 0]);
  });

  it('ends the oldest delegated sessions beyond 1,000 each time that a user has opened 32', async () => {
    const deletion = aDeletion(dataSource);
    const limit = aLiveSessionsLimit(dataSource, deletion);
    await insert(times(LIVE_LIMIT - 1, (index) => session(index + 100, index + 100)));
    for (const more of [10, 20]) {
      await insert(times(5, (index) => session(more + index, more + index)));
      for (let opened = 0; opened < LOOK_EVERY; opened += 1) limit.noteOpened(USER);
      await expect.poll(unrevoked, { timeout: hangTimeoutMs() }).toBe(LIVE_LIMIT);
      // The check that ended them may still run, and the next one would not begin.
      await limit.checkAgain();
    }
    await limit.onApplicationShutdown();
    await deletion.onApplicationShutdown();
  });
});

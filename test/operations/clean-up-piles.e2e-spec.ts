import { setImmediate } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import type { DataSource } from 'typeorm';
import { aCleanUp } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { recordStatements } from '../support/executed-statements.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { insertSessions, sessionId } from '../support/session-rows.js';

const BATCH = 100;
const IN_ONE_RUN = 200 * BATCH;
const PILE = 2 * IN_ONE_RUN + 10_000;

/** A real file, and this process's own event loop: what one process does while it deletes. */
describe.runIf(engine === 'sqlite')('a pile of expired rows on SQLite', () => {
  let installation: Installation;
  let dataSource: DataSource;
  let warn: MockInstance<Logger['warn']>;

  beforeEach(async () => {
    installation = await anInstallation();
    dataSource = await aDataSource(installation);
    await dataSource.runMigrations({ transaction: 'each' });
    vi.spyOn(Logger.prototype, 'debug').mockReturnValue();
    warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  });

  afterEach(async () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    await dataSource.destroy();
    await installation.remove();
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

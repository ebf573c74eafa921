import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hangTimeoutMs } from '../../tooling/wait.js';
import { aheadBy } from '../support/clock.js';
import { aDataSource, MIGRATIONS } from '../support/data-source.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { exitCode, type ServiceProcess, spawnService, untilListening } from '../support/service-process.js';

const FOR_LONG_MS = 600_000;

let installation: Installation;

beforeEach(async () => {
  installation = await anInstallation();
});
afterEach(() => installation.remove());

describe('the migrations', () => {
  it('create what the entities describe, also after a full revert', async () => {
    const latest = await aDataSource(installation);
    for (const time of ['first', 'second']) {
      await latest.runMigrations({ transaction: 'each' });
      const { upQueries } = await latest.driver.createSchemaBuilder().log();
      expect(upQueries, `the ${time} time`).toEqual([]);
      for (const _ of MIGRATIONS) await latest.undoLastMigration();
      await expect(latest.query('SELECT id FROM users')).rejects.toThrow(/users/);
    }
    await latest.destroy();
  });

  it('are completed by later starts, interrupted after each of their statements', async () => {
    const interrupted = new Set<string>();
    while (await upgradeInterruptedOnce(interrupted));
    expect(interrupted.size).toBeGreaterThanOrEqual(17);
    const latest = await aDataSource(installation);
    expect((await latest.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await latest.destroy();
  });

  /** Ends after the next statement that changes the schema, and at no earlier one; false when there is none left. */
  async function upgradeInterruptedOnce(interrupted: Set<string>): Promise<boolean> {
    const dataSource = await aDataSource(installation);
    const create = dataSource.createQueryRunner.bind(dataSource);
    dataSource.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner);
      runner.query = async (sql: string, ...rest: unknown[]) => {
        const result: unknown = await query(sql, ...(rest as []));
        if (/^(?:CREATE|ALTER|DROP) /.test(sql) && !interrupted.has(sql)) {
          interrupted.add(sql);
          throw new Error('interrupted');
        }
        return result as never;
      };
      return runner;
    };
    // TypeORM would print the intended failure.
    const console = vi.spyOn(globalThis.console, 'log').mockReturnValue();
    try {
      await dataSource.runMigrations({ transaction: 'each' });
      return false;
    } catch (error) {
      if ((error as Error).message !== 'interrupted') throw error;
      return true;
    } finally {
      console.mockRestore();
      await dataSource.destroy();
    }
  }
});

describe.runIf(engine === 'mariadb')('the migration lease', () => {
  let other: Connection;

  beforeEach(async () => {
    other = await createConnection(installation.db.url);
    await other.query(`CREATE TABLE migrations_lease
      (id integer NOT NULL PRIMARY KEY, holder varchar(36) NOT NULL, expires_at bigint NOT NULL)`);
    await other.query("INSERT INTO migrations_lease VALUES (1, '', 0)");
  });
  afterEach(() => other.end());

  const start = (env = {}): ServiceProcess =>
    spawnService(installation.directory, { ...installation.env, ...env });

  const TABLES = 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()';
  const tables = async () => (await installation.db.query(TABLES)).map(({ name }) => name);
  const expiry = async () =>
    Number((await installation.db.query('SELECT expires_at FROM migrations_lease'))[0]!['expires_at']);

  const hand = (holder: string, expiresAt: number) =>
    installation.db.query('UPDATE migrations_lease SET holder = ?, expires_at = ?', [holder, expiresAt]);

  it('is waited for while another instance holds it, by the clock of the database', async () => {
    await hand('another instance', Date.now() + FOR_LONG_MS / 2);
    const service = start({ NODE_OPTIONS: aheadBy(FOR_LONG_MS) });
    const waits = () => expect(service.logs.join('\n')).toContain('waiting for another instance to migrate');
    await vi.waitFor(waits, hangTimeoutMs());

    const end = Date.now() + 2000;
    await hand('another instance', end);
    while (Date.now() < end) {
      expect(await tables()).toEqual(['migrations_lease']);
      await sleep(50);
    }
    await untilListening(service);

    expect(await tables()).toContain('members');
    service.child.kill('SIGTERM');
    await exitCode(service);
  });

  it('is renewed, and its loss stops the migration, which the next start completes', async () => {
    const columns = 'id int AUTO_INCREMENT PRIMARY KEY, timestamp bigint, name text';
    await other.query(`CREATE TABLE migrations (${columns})`);
    // The migration can do its work but cannot record it.
    await other.query('LOCK TABLES migrations READ');
    const service = start({ DATABASE_POOL_SIZE: '2' });
    await vi.waitFor(async () => expect(await tables()).toContain('members'), hangTimeoutMs());
    const taken = await expiry();
    await vi.waitFor(async () => expect(await expiry()).toBeGreaterThan(taken), hangTimeoutMs());

    await hand('another instance', Date.now() + FOR_LONG_MS);

    expect(await exitCode(service)).toBe(1);
    expect(service.stderr).toEqual([expect.stringMatching(/^MIGRATIONS: .*lease/)]);
    expect(await expiry()).toBeGreaterThan(Date.now());

    await other.query('UNLOCK TABLES');
    await hand('', 0);
    const next = start();
    await untilListening(next);
    const noted = await installation.db.query('SELECT name FROM migrations');
    expect(noted).not.toEqual([]);
    expect(new Set(noted.map(({ name }) => name)).size).toBe(noted.length);
    next.child.kill('SIGTERM');
    await exitCode(next);
  });
});

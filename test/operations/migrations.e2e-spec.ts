import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aDataSource, MIGRATIONS } from '../support/data-source.js';
import { anInstallation, type Installation } from '../support/installation.js';

describe('the migrations', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

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

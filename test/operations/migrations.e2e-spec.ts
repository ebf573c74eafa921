import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DataSource } from 'typeorm';
import { aDataSource, MIGRATIONS } from '../support/data-source.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { startService } from '../support/service.js';
import { signToken } from '../support/signing-keys.js';

const NOW = Date.now();
const id = (last: string): string => `01a1fbf4-7ea2-724e-b0f0-${last.padStart(12, '0')}`;
const [ADA, GRACE, LOGIN, REVOKED, ORG] = ['a', 'b', 'c', 'd', 'e'].map(id) as [string, ...string[]];

/** Rows of the first schema, table by table. */
const ROWS: Record<string, Record<string, string | number | null>[]> = {
  users: [
    { id: ADA, email: 'ada@example.com', password_hash: 'none', created_at: NOW },
    { id: GRACE!, email: 'grace@example.com', password_hash: 'none', created_at: NOW },
  ],
  sessions: [
    { id: LOGIN!, user_id: ADA, auth_time: NOW, created_at: NOW, expires_at: NOW + 1e6, revoked_at: null },
    {
      id: REVOKED!,
      user_id: GRACE!,
      auth_time: NOW,
      created_at: NOW,
      expires_at: NOW + 1e6,
      revoked_at: NOW,
    },
  ],
  orgs: [{ id: ORG!, name: 'Analytical Engines', revision: 2, created_at: NOW }],
  members: [
    { org_id: ORG!, user_id: ADA, role: 'owner', joined_at: NOW },
    { org_id: ORG!, user_id: GRACE!, role: 'member', joined_at: NOW + 1 },
  ],
};
const CODE = { hash: 'h', session_id: LOGIN!, created_at: NOW, expires_at: NOW, purge_at: NOW };

describe('the migrations', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  /** The first schema, with rows in every table. */
  async function fill(): Promise<void> {
    const first = await aDataSource(installation, MIGRATIONS.slice(0, 1));
    await first.runMigrations({ transaction: 'each' });
    for (const [table, rows] of Object.entries({ ...ROWS, authorization_codes: [CODE] })) {
      for (const row of rows) {
        const places = Object.keys(row).map(() => '?');
        await first.query(
          `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${places.join()})`,
          Object.values(row),
        );
      }
    }
    await first.destroy();
  }

  async function rowsOf(dataSource: DataSource): Promise<typeof ROWS> {
    const found: typeof ROWS = {};
    for (const [table, rows] of Object.entries(ROWS)) {
      const columns = Object.keys(rows[0]!);
      found[table] = await dataSource.query(
        `SELECT ${columns.join()} FROM ${table} ORDER BY ${columns.slice(0, 2).join()}`,
      );
    }
    return found;
  }

  it('keep every user, session, organization and member, up from the first schema and back', async () => {
    await fill();
    const latest = await aDataSource(installation);
    await latest.runMigrations({ transaction: 'each' });
    expect(await rowsOf(latest)).toEqual(ROWS);

    for (let applied = MIGRATIONS.length; applied > 1; applied -= 1) {
      await latest.undoLastMigration();
      expect(await rowsOf(latest)).toEqual(ROWS);
    }
    await latest.destroy();
  });

  it('create what the entities describe, also after a full revert', async () => {
    const latest = await aDataSource(installation);
    for (const time of ['first', 'second']) {
      await latest.runMigrations({ transaction: 'each' });
      const { upQueries } = await latest.driver.createSchemaBuilder().log();
      expect(upQueries, `the ${time} time`).toEqual([]);
      for (const _ of MIGRATIONS) await latest.undoLastMigration();
      await expect(rowsOf(latest)).rejects.toThrow(/users/);
    }
    await latest.destroy();
  });

  it('keep tokens working, and revoked ones refused', async () => {
    await fill();
    const service = await startService({ installation });
    const tokenOf = (sid: string, sub: string): string => {
      const seconds = Math.floor(NOW / 1000);
      const times = { iat: seconds, exp: seconds + 1000, auth_time: seconds };
      const claims = { iss: 'accounts', aud: 'accounts', sub, sid, jti: id('f'), ...times };
      const [key] = installation.keys;
      return signToken({ alg: 'ES256', typ: 'at+jwt', kid: key!.kid }, claims, key!);
    };

    const me = await service.anyone.withToken(tokenOf(LOGIN!, ADA)).get('/api/me');
    const refused = await service.anyone.withToken(tokenOf(REVOKED!, GRACE!)).get('/api/me');
    await service.stop();

    expect(me.body).toEqual({
      user: { id: ADA, email: 'ada@example.com' },
      orgs: [{ id: ORG, name: 'Analytical Engines' }],
    });
    expect(refused.status).toBe(401);
  });

  it('are completed by later starts, interrupted after each of their statements', async () => {
    await fill();
    const interrupted = new Set<string>();
    while (await upgradeInterruptedOnce(interrupted));

    expect(interrupted.size).toBeGreaterThan(50);
    const latest = await aDataSource(installation);
    expect(await rowsOf(latest)).toEqual(ROWS);
    expect((await latest.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await latest.destroy();
  });

  /** Ends after the next statement that changes the schema, and at none before; false when there is none left. */
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
      if ((error as Error).message !== 'broken off') throw error;
      return true;
    } finally {
      console.mockRestore();
      await dataSource.destroy();
    }
  }
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { Org } from '../../src/orgs/state/org.entity.js';
import { anOrgPurge, aCleanUp } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { recordStatements } from '../support/executed-statements.js';
import { anInstallation, type Installation } from '../support/installation.js';

const NOW = 1_800_000_000_000;
const BATCH = 100;
const DAY_MS = 86_400_000;

const idOf = (number: number): string => `01a1fbf4-7ea2-724e-b0f0-${String(number).padStart(12, '0')}`;

describe('the purge of deleted organizations', () => {
  let installation: Installation;
  let dataSource: DataSource;

  beforeEach(async () => {
    installation = await anInstallation();
    dataSource = await aDataSource(installation);
    await dataSource.runMigrations({ transaction: 'each' });
  });
  afterEach(async () => {
    await dataSource.destroy();
    await installation.remove();
  });

  /** @param purgeAt undefined: it is not deleted */
  async function anOrgOf(size: number, number: number, purgeAt?: number): Promise<string> {
    const id = idOf(number);
    await dataSource.query(
      'INSERT INTO orgs (id, name, revision, created_at, deleted_at, purge_at) VALUES (?, ?, 7, 1, ?, ?)',
      [id, 'Org', purgeAt === undefined ? null : purgeAt - DAY_MS, purgeAt ?? null],
    );
    const people = Array.from({ length: size }, (_, index) => idOf(number * 1_000_000 + index));
    const insert = (table: string, places: string, values: unknown[]) =>
      dataSource.query(`INSERT INTO ${table} VALUES ${people.map(() => places).join()}`, values);
    await insert(
      'users (id, email, password_hash, created_at)',
      "(?, ?, 'none', 1)",
      people.flatMap((user) => [user, user]),
    );
    await insert(
      'members (org_id, user_id, email, role, joined_at)',
      "(?, ?, ?, 'owner', 1)",
      people.flatMap((user) => [id, user, user]),
    );
    await insert(
      `invitations (id, org_id, email, role, status, code_number, code_shown, invited_by, created_at, expires_at)`,
      "(?, ?, ?, 'member', 'revoked', 1, 0, ?, 1, ?)",
      people.flatMap((user) => [user, id, user, user, NOW]),
    );
    return id;
  }

  const left = async (): Promise<object> => {
    const [row] = await dataSource.query<object[]>(
      `SELECT (SELECT COUNT(*) FROM orgs) AS orgs, (SELECT COUNT(*) FROM members) AS members,
         (SELECT COUNT(*) FROM invitations) AS invitations, (SELECT COUNT(*) FROM users) AS users`,
    );
    return Object.fromEntries(Object.entries(row!).map(([name, count]) => [name, Number(count)]));
  };
  const events = () =>
    dataSource.query<object[]>(
      'SELECT type, actor_type, actor_id, org_id, org_revision, user_id FROM events',
    );

  it('takes those whose time is over, to the millisecond, and nobody with them', async () => {
    const gone = await anOrgOf(3, 1, NOW);
    await anOrgOf(3, 2, NOW + 1);
    await anOrgOf(3, 3);

    expect(await aCleanUp(dataSource).deleteExpired(NOW)).toEqual({ deleted: 7, hasMore: false });

    expect(await left()).toEqual({ orgs: 2, members: 6, invitations: 6, users: 9 });
    expect(await dataSource.query('SELECT id FROM orgs WHERE id = ?', [gone])).toEqual([]);
    expect(await events()).toEqual([
      {
        type: 'org.purged',
        actor_type: 'system',
        actor_id: null,
        org_id: gone,
        org_revision: 8,
        user_id: null,
      },
    ]);
  });

  it('goes in small transactions, and goes on where it was interrupted', async () => {
    const size = 2 * BATCH + 50;
    const id = await anOrgOf(size, 1, NOW);
    const executed = recordStatements(dataSource);

    // As a process that ends after its first batch.
    await anOrgPurge(dataSource).purgeBatch(NOW);
    expect(await left()).toMatchObject({ orgs: 1, members: size - BATCH, invitations: size });
    const [org] = await dataSource.query<{ began: number }[]>(
      'SELECT purge_began_at AS began FROM orgs WHERE id = ?',
      [id],
    );
    expect(org!.began).toBe(NOW);

    // Also by one whose clock is behind.
    await aCleanUp(dataSource).deleteExpired(NOW);
    expect(await left()).toEqual({ orgs: 0, members: 0, invitations: 0, users: size });
    expect(await events()).toHaveLength(1);
    expect(Math.max(...executed.map(({ rows }) => rows))).toBeLessThanOrEqual(BATCH);
  });

  it('leaves what is restored while it comes by', async () => {
    const id = await anOrgOf(3, 1, NOW);
    const purge = anOrgPurge(dataSource);
    const found = purge.purgeBatch.bind(purge);
    await dataSource.query('UPDATE orgs SET deleted_at = NULL, purge_at = NULL WHERE id = ?', [id]);

    expect(await found(NOW)).toEqual({ examined: 0, deleted: 0 });
    expect(await left()).toEqual({ orgs: 1, members: 3, invitations: 3, users: 3 });
  });

  it('asks again, under the lock, whether the time is over', async () => {
    const [due, later, restored] = [
      await anOrgOf(1, 1, NOW),
      await anOrgOf(1, 2, NOW + 1),
      await anOrgOf(1, 3),
    ];
    const purge = async (id: string): Promise<number> => {
      const orgs = new OrgsRepository(dataSource.getRepository(Org));
      orgs.findDue = async () => id;
      return (await anOrgPurge(dataSource, orgs).purgeBatch(NOW)).deleted;
    };

    expect([await purge(due), await purge(later), await purge(restored)]).toEqual([3, 0, 0]);
    expect(await purge(due)).toBe(0);
    const kept = await dataSource.query('SELECT id FROM orgs WHERE purge_began_at IS NULL ORDER BY id');
    expect(kept).toEqual([later, restored].toSorted().map((id) => ({ id })));
    expect(await left()).toMatchObject({ orgs: 2 });
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { ENDED_RETENTION_MS } from '../../src/orgs/state/invitations.lists.js';
import { aCleanUp } from '../support/clean-up.js';
import { aDataSource } from '../support/data-source.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { DAY_MS } from '../support/inviting.js';
import { anUnknownId } from '../support/personas.js';

const NOW = 1_800_000_000_000;

describe('the clean-up of invitations', () => {
  let installation: Installation;
  let dataSource: DataSource;
  let deleteExpired: (now: number) => Promise<unknown>;

  beforeEach(async () => {
    installation = await anInstallation();
    dataSource = await aDataSource(installation);
    await dataSource.runMigrations({ transaction: 'each' });
    const cleanUp = aCleanUp(dataSource);
    deleteExpired = (now) => cleanUp.deleteExpired(now);
  });
  afterEach(async () => {
    await dataSource.destroy();
    await installation.remove();
  });

  async function insert(status: string, expiresAt: number, count = 1): Promise<string[]> {
    const ids = Array.from({ length: count }, () => anUnknownId());
    const isPending = status === 'pending';
    await dataSource.query(
      `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
         created_at, expires_at, ended_at)
        VALUES ${ids.map(() => "(?, 'o', ?, 'member', ?, ?, 1, 0, 'u', 1, ?, ?)").join()}`,
      ids.flatMap((id) => [id, id, status, isPending ? 1 : null, expiresAt, isPending ? null : 1]),
    );
    return ids;
  }

  const rows = (): Promise<Record<string, unknown>[]> =>
    dataSource.query('SELECT id, status, pending, ended_at AS endedAt FROM invitations ORDER BY id');

  it('notes those that have expired, to the millisecond, however many', async () => {
    await insert('pending', NOW, 250);
    const [alive] = await insert('pending', NOW + 1);

    await deleteExpired(NOW);

    const found = await rows();
    expect(found).toHaveLength(251);
    for (const { id, ...row } of found) {
      const expected =
        id === alive
          ? { status: 'pending', pending: 1, endedAt: null }
          : { status: 'expired', pending: null, endedAt: NOW };
      expect(row).toEqual(expected);
    }
  });

  it('deletes those that have ended, 30 days after their time, and no pending one', async () => {
    expect(ENDED_RETENTION_MS).toBe(30 * DAY_MS);
    const old = NOW - ENDED_RETENTION_MS;
    for (const status of ['accepted', 'declined', 'revoked', 'expired']) await insert(status, old, 60);
    const [kept] = await insert('revoked', old + 1);

    await deleteExpired(NOW);

    expect((await rows()).map(({ id }) => id)).toEqual([kept]);
  });
});

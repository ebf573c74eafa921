import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { isLostConflict } from './database-errors.js';

const LEASE_MS = 30_000;
const RENEW_MS = 10_000;
const PAUSE_MS = 250;

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS migrations_lease
  (id integer NOT NULL PRIMARY KEY, holder varchar(36) NOT NULL, expires_at bigint NOT NULL)`;
const CREATE_ROW = "INSERT IGNORE INTO migrations_lease (id, holder, expires_at) VALUES (1, '', 0)";
const TAKE = 'UPDATE migrations_lease SET holder = ?, expires_at = ? WHERE id = 1 AND expires_at < ?';
const RENEW = 'UPDATE migrations_lease SET expires_at = ? WHERE id = 1 AND holder = ?';

/**
 * Lets one instance at a time do the work, on MySQL, MariaDB and all nodes of a Galera cluster: named locks
 * of the server end at the server, a row does not. Whoever holds the lease renews it; of one that died it
 * runs out.
 */
export async function withMigrationLease(dataSource: DataSource, work: () => Promise<void>): Promise<void> {
  const holder = randomUUID();
  await persist(() => dataSource.query(CREATE_TABLE));
  await persist(() => dataSource.query(CREATE_ROW));
  while (!(await take(dataSource, holder))) await sleep(PAUSE_MS * (0.5 + Math.random()));

  const renewal = setInterval(() => {
    // A renewal that fails is made up for by the next one, well before the lease runs out.
    dataSource.query(RENEW, [Date.now() + LEASE_MS, holder]).catch(() => undefined);
  }, RENEW_MS);
  try {
    await work();
  } finally {
    clearInterval(renewal);
    await persist(() => dataSource.query(RENEW, [0, holder]));
  }
}

async function take(dataSource: DataSource, holder: string): Promise<boolean> {
  const now = Date.now();
  return persist(async () => {
    const { affectedRows } = await dataSource.query<{ affectedRows: number }>(TAKE, [
      holder,
      now + LEASE_MS,
      now,
    ]);
    return affectedRows === 1;
  });
}

async function persist<T>(statement: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!isLostConflict(error)) throw error;
      await sleep(PAUSE_MS * Math.random());
    }
  }
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { NOW_MS, placeholders } from './statements.js';
import { isMissingTable, LostConflictError } from './transactions/database-errors.js';
import { onceReachable } from './once-reachable.js';
import type { Env } from '../config/env.js';
import { ConfigurationError } from '../config/variables.js';
import { dataSourceOptions, openDataSource, type DatabaseSchema } from './database.module.js';

const LEASE_MS = 30_000;
const RENEW_MS = 5000;
const PAUSE_MS = 250;

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS migrations_lease
  (id integer NOT NULL PRIMARY KEY, holder varchar(36) NOT NULL, expires_at bigint NOT NULL)`;
const CREATE_ROW = "INSERT IGNORE INTO migrations_lease (id, holder, expires_at) VALUES (1, '', 0)";
const TAKE = `UPDATE migrations_lease SET holder = ?, expires_at = ${NOW_MS} + ${LEASE_MS}
  WHERE id = 1 AND expires_at < ${NOW_MS}`;
const RENEW = `UPDATE migrations_lease SET expires_at = ${NOW_MS} + ${LEASE_MS} WHERE id = 1 AND holder = ?`;
const RELEASE = 'UPDATE migrations_lease SET expires_at = 0 WHERE id = 1 AND holder = ?';

export class MigrationLeaseLostError extends ConfigurationError {
  constructor() {
    super(['MIGRATIONS: abandoned because their lease could not be renewed; the next start completes them']);
  }
}

/** The lease is a row, because named locks do not span a Galera cluster. */
export async function withMigrationLease<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const holder = randomUUID();
  for (const sql of [CREATE_TABLE, CREATE_ROW]) await retryPersistently(() => dataSource.query(sql));
  await take(dataSource, holder);

  const renewal = keepRenewing(dataSource, holder);
  try {
    return await Promise.race([workAndRelease(dataSource, holder, work), renewal.lost]);
  } finally {
    renewal.stop();
  }
}

async function take(dataSource: DataSource, holder: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    if (await retryPersistently(() => changesRow(dataSource, TAKE, holder))) return;
    if (attempt === 0) new Logger('Database').log('waiting for another instance to migrate');
    await sleep(PAUSE_MS * (0.5 + Math.random()));
  }
}

async function workAndRelease<T>(dataSource: DataSource, holder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    // A failure to release must not hide a failure of the work. The lease expires by itself.
    await retryPersistently(() => changesRow(dataSource, RELEASE, holder)).catch(() => undefined);
  }
}

/** `lost` rejects if another instance holds the lease, or before the lease expires without a renewal. */
function keepRenewing(dataSource: DataSource, holder: string): { lost: Promise<never>; stop: () => void } {
  const { promise: lost, reject } = Promise.withResolvers<never>();
  let renewedAt = performance.now();
  const renew = async (): Promise<void> => {
    const now = performance.now();
    const isTimeLeft = now - renewedAt < LEASE_MS - RENEW_MS;
    if (isTimeLeft && (await changesRow(dataSource, RENEW, holder))) renewedAt = now;
    else reject(new MigrationLeaseLostError());
  };
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_MS);
  return { lost, stop: () => clearInterval(timer) };
}

async function changesRow(dataSource: DataSource, sql: string, holder: string): Promise<boolean> {
  const { affectedRows } = await dataSource.query<{ affectedRows: number }>(sql, [holder]);
  return affectedRows === 1;
}

/** Instances that start together conflict more often than the query runner retries. */
async function retryPersistently<T>(statement: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!(error instanceof LostConflictError)) throw error;
      await sleep(PAUSE_MS * Math.random());
    }
  }
}

export async function migrate(env: Env, schema: DatabaseSchema): Promise<string[]> {
  const dataSource = await openDataSource(await dataSourceOptions(env, schema, 'maintenance'));
  let isLost = false;
  try {
    return await bringUpToDate(dataSource, env);
  } catch (error) {
    isLost = error instanceof MigrationLeaseLostError;
    throw error;
  } finally {
    // The abandoned work may never end, and `destroy` would wait for it.
    if (!isLost) await dataSource.destroy();
  }
}

async function bringUpToDate(dataSource: DataSource, env: Env): Promise<string[]> {
  if (await onceReachable(() => isSchemaUpToDate(dataSource))) return [];
  if (env.migrations === 'check') {
    throw new ConfigurationError([
      'MIGRATIONS: the schema is not up to date; start once with MIGRATIONS=run',
    ]);
  }

  const run = (): Promise<string[]> => runMigrations(dataSource);
  return env.database.engine === 'sqlite' ? run() : withMigrationLease(dataSource, run);
}

async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const applied = await dataSource.runMigrations({ transaction: 'each' });
  for (const { name } of applied) new Logger('Database').log(`migration applied: ${name}`);
  return applied.map(({ name }) => name);
}

/** The second migration of versions before 0.3.0. Their first migration has the name of ours. */
const OF_OLDER_VERSIONS = 'LinkSessions1795305600000';

/** Ignores migrations of newer versions. TypeORM's own check would create a table. @throws ConfigurationError */
export async function isSchemaUpToDate(dataSource: DataSource): Promise<boolean> {
  const names = dataSource.migrations.map((migration) => migration.name ?? migration.constructor.name);
  const asked = [...names, OF_OLDER_VERSIONS];
  try {
    const rows = await dataSource.query<{ name: string }[]>(
      `SELECT name FROM migrations WHERE name IN (${placeholders(asked.length)})`,
      asked,
    );
    if (rows.some(({ name }) => name === OF_OLDER_VERSIONS)) {
      throw new ConfigurationError([
        'DATABASE_URL: a version before 0.3.0 made this database, which cannot be upgraded; ' +
          'use an empty one, and import the users (CHANGELOG.md)',
      ]);
    }
    return rows.length === names.length;
  } catch (error) {
    if (!isMissingTable(error)) throw error;
    return false;
  }
}

export async function isSchemaNewer(dataSource: DataSource): Promise<boolean> {
  const rows = await dataSource.query<{ applied: number }[]>('SELECT COUNT(*) AS applied FROM migrations');
  return Number(rows[0]?.applied) > dataSource.migrations.length;
}

export async function lastMigration(dataSource: DataSource): Promise<string | null> {
  const rows = await dataSource.query<{ name: string }[]>(
    'SELECT name FROM migrations ORDER BY id DESC LIMIT 1',
  );
  return rows[0]?.name ?? null;
}

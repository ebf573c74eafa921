import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { createConnection, createPool } from 'mysql2/promise';
import { inject } from 'vitest';
import { addClock } from '../../src/database/sqlite/node-sqlite.js';
import { createDatabase } from '../../tooling/servers/mariadb.js';
import { engine, type Engine } from './engine.js';

export type Row = Record<string, string | number | null>;

/** The tests' own access to the data, bypassing the service: to inspect and to damage them. */
export interface Database {
  /** for `DATABASE_URL` */
  url: string;
  query(sql: string, values?: SQLInputValue[]): Promise<Row[]>;
  /** As `query`, with foreign keys off: for damage that the engine would refuse. */
  force(sql: string, values?: SQLInputValue[]): Promise<void>;
  /** As it was before the service first started; no process of the service may be running. */
  empty(): Promise<void>;
  drop(): Promise<void>;
}

export interface DatabaseOptions {
  /** other than the one that this run is about */
  engine?: Engine;
  /** of a server other than the shared one */
  mariadbPort?: number | undefined;
}

export async function anEmptyDatabase(directory: string, options: DatabaseOptions): Promise<Database> {
  if ((options.engine ?? engine) === 'sqlite') return aFile(directory);
  const port = options.mariadbPort ?? inject('mariadbPort');
  return openSchema(await createDatabase(port, `t_${randomBytes(8).toString('hex')}`));
}

function aFile(directory: string): Database {
  const name = 'accounts.sqlite';
  const file = join(directory, name);
  const run = (sql: string, values: SQLInputValue[], enableForeignKeyConstraints: boolean): Row[] => {
    const database = new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints });
    addClock(database);
    try {
      return database.prepare(sql).all(...values) as Row[];
    } finally {
      database.close();
    }
  };
  return {
    url: `sqlite:${file}`,
    query: async (sql, values = []) => run(sql, values, true),
    force: async (sql, values = []) => void run(sql, values, false),
    empty: async () => {
      for (const one of readdirSync(directory)) if (one.startsWith(name)) rmSync(join(directory, one));
    },
    drop: () => Promise.resolve(),
  };
}

export function existingDatabase(directory: string, url: string): Database {
  return url.startsWith('sqlite:') ? aFile(directory) : openSchema(url);
}

function openSchema(url: string): Database {
  const name = new URL(url).pathname.slice(1);
  const port = Number(new URL(url).port);
  const server = { host: '127.0.0.1', port, user: 'root' };
  const open = () => createPool({ ...server, database: name, connectionLimit: 2 });
  let pool = open();
  return {
    url: `mysql://root@127.0.0.1:${port}/${name}`,
    query: async (sql, values = []) => {
      const [rows] = await pool.query(sql, values);
      return Array.isArray(rows) ? (rows as Row[]) : [];
    },
    force: async (sql, values = []) => {
      const unchecked = await createConnection({ ...server, database: name });
      try {
        await unchecked.query('SET SESSION foreign_key_checks = 0');
        await unchecked.query(sql, values);
      } finally {
        unchecked.destroy();
      }
    },
    empty: async () => {
      await pool.query(`DROP DATABASE ${name}`);
      await pool.query(`CREATE DATABASE ${name}`);
      // Its connections have lost their database.
      await pool.end();
      pool = open();
    },
    drop: async () => {
      await pool.query(`DROP DATABASE ${name}`);
      await pool.end();
    },
  };
}

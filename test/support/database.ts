import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { createConnection, createPool } from 'mysql2/promise';
import { inject } from 'vitest';
import { engine } from './engine.js';

export type Row = Record<string, string | number | null>;

/** The tests' own way into the data, past the service: for looking at what is really there and for damage. */
export interface Database {
  /** for `DATABASE_URL` */
  url: string;
  query(sql: string, values?: SQLInputValue[]): Promise<Row[]>;
  /** As `query`, with foreign keys off: for damage that the engine would refuse. */
  force(sql: string, values?: SQLInputValue[]): Promise<void>;
  drop(): Promise<void>;
}

/** @param mariadbPort of a server other than the shared one */
export function anEmptyDatabase(directory: string, mariadbPort?: number): Promise<Database> {
  return engine === 'sqlite' ? aFile(directory) : aSchema(mariadbPort ?? inject('mariadbPort'));
}

function aFile(directory: string): Promise<Database> {
  const file = join(directory, 'accounts.sqlite');
  const run = (sql: string, values: SQLInputValue[], enableForeignKeyConstraints: boolean): Row[] => {
    const database = new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints });
    try {
      return database.prepare(sql).all(...values) as Row[];
    } finally {
      database.close();
    }
  };
  return Promise.resolve({
    url: `sqlite:${file}`,
    query: async (sql, values = []) => run(sql, values, true),
    force: async (sql, values = []) => void run(sql, values, false),
    drop: () => Promise.resolve(),
  });
}

/** One that another file has made. */
export function existingDatabase(directory: string, url: string): Promise<Database> {
  return engine === 'sqlite' ? aFile(directory) : Promise.resolve(openSchema(url));
}

async function aSchema(port: number): Promise<Database> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
  await connection.query(`CREATE DATABASE ${name}`);
  await connection.end();
  return openSchema(`mysql://root@127.0.0.1:${port}/${name}`);
}

function openSchema(url: string): Database {
  const name = new URL(url).pathname.slice(1);
  const port = Number(new URL(url).port);
  const server = { host: '127.0.0.1', port, user: 'root' };
  const pool = createPool({ ...server, database: name, connectionLimit: 2 });
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
    drop: async () => {
      await pool.query(`DROP DATABASE ${name}`);
      await pool.end();
    },
  };
}

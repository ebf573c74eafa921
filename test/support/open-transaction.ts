import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import type { Database } from './database.js';

/** A transaction of the test's own, which holds its locks until it is committed. */
export interface OpenTransaction {
  run(sql: string, values?: SQLInputValue[]): Promise<void>;
  commit(): Promise<void>;
}

export async function openTransaction({ url }: Database): Promise<OpenTransaction> {
  return url.startsWith('sqlite:') ? onFile(url.slice('sqlite:'.length)) : onServer(url);
}

function onFile(file: string): OpenTransaction {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec('BEGIN IMMEDIATE');
  return {
    run: async (sql, values = []) => void database.prepare(sql).run(...values),
    commit: async () => {
      database.exec('COMMIT');
      database.close();
    },
  };
}

async function onServer(url: string): Promise<OpenTransaction> {
  const connection = await createConnection(url);
  await connection.beginTransaction();
  return {
    run: async (sql, values = []) => void (await connection.query(sql, values)),
    commit: async () => {
      await connection.commit();
      await connection.end();
    },
  };
}

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Database, type Db, DuplicateError, type Value } from './db.ts';
import { SQLITE_SCHEMA } from './schema.ts';

const CONSTRAINT_UNIQUE = 2067;
const CONSTRAINT_PRIMARY_KEY = 1555;

/** One connection for the process: a transaction keeps every other statement waiting until it ends. */
export function openSqlite(file: string): Database {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  for (const statement of SQLITE_SCHEMA) database.exec(statement);

  const inside = statementsOn(database);
  const turn: { taken?: Promise<void> | undefined } = {};

  async function transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    while (turn.taken) await turn.taken;
    const { promise, resolve } = Promise.withResolvers<void>();
    turn.taken = promise;
    try {
      database.exec('BEGIN IMMEDIATE');
      const result = await work(inside);
      database.exec('COMMIT');
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    } finally {
      turn.taken = undefined;
      resolve();
    }
  }

  return {
    forUpdate: '',
    transaction,
    async query<Row>(sql: string, values: Value[]): Promise<Row[]> {
      while (turn.taken) await turn.taken;
      return inside.query<Row>(sql, values);
    },
    async run(sql: string, values: Value[]): Promise<number> {
      while (turn.taken) await turn.taken;
      return inside.run(sql, values);
    },
    close: async () => database.close(),
  };
}

function statementsOn(database: DatabaseSync): Db {
  const prepared = new Map<string, StatementSync>();
  function prepare(sql: string): StatementSync {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  }
  return {
    forUpdate: '',
    query: async <Row>(sql: string, values: Value[]) =>
      refusingDuplicates(() => prepare(sql).all(...values) as Row[]),
    run: async (sql, values) => refusingDuplicates(() => Number(prepare(sql).run(...values).changes)),
  };
}

function refusingDuplicates<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw isDuplicate(error) ? new DuplicateError('Duplicate key', { cause: error }) : error;
  }
}

function isDuplicate(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return code === CONSTRAINT_UNIQUE || code === CONSTRAINT_PRIMARY_KEY;
}

import { setTimeout as sleep } from 'node:timers/promises';
import {
  createPool,
  type Pool,
  type PoolConnection,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';
import { type Database, type Db, DuplicateError, type Value } from './db.ts';
import { conflict } from './problems.ts';
import { MYSQL_SCHEMA } from './schema.ts';

const DUPLICATE_ENTRY = 1062;
const LOST_CONFLICTS = new Set([1213, 1205, 1020]);
const RETRIES = 5;
const SESSION_SETTINGS =
  "SET SESSION time_zone = '+00:00', SESSION innodb_lock_wait_timeout = 3, SESSION max_statement_time = 5";

export async function openMysql(url: string, poolSize: number): Promise<Database> {
  const open = (connectionLimit: number, settings: string): Pool => {
    const opened = createPool({ uri: url, connectionLimit, charset: 'utf8mb4', timezone: 'Z' });
    opened.pool.on('connection', (connection) => connection.query(settings, () => undefined));
    return opened;
  };
  const pool = open(Math.ceil(poolSize / 2), SESSION_SETTINGS);
  const transactions = open(Math.floor(poolSize / 2), `${SESSION_SETTINGS}, SESSION autocommit = 0`);
  for (const statement of MYSQL_SCHEMA) await pool.query(statement);
  const statements = statementsOn(pool);
  return {
    forUpdate: statements.forUpdate,
    query: (sql, values) => retrying(() => statements.query(sql, values)),
    run: (sql, values) => retrying(() => statements.run(sql, values)),
    transaction: (work) => retrying(() => attemptOnce(transactions, work)),
    close: async () => {
      await Promise.all([pool.end(), transactions.end()]);
    },
  };
}

function statementsOn(connection: Pool | PoolConnection): Db {
  return {
    forUpdate: ' FOR UPDATE',
    async query<Row>(sql: string, values: Value[]): Promise<Row[]> {
      const [rows] = await connection.execute<RowDataPacket[]>(sql, values).catch(rethrowAsDuplicate);
      return rows as Row[];
    },
    async run(sql: string, values: Value[]): Promise<number> {
      const [result] = await connection.execute<ResultSetHeader>(sql, values).catch(rethrowAsDuplicate);
      return result.affectedRows;
    },
  };
}

function rethrowAsDuplicate(error: unknown): never {
  throw errno(error) === DUPLICATE_ENTRY ? new DuplicateError('Duplicate key', { cause: error }) : error;
}

async function retrying<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!LOST_CONFLICTS.has(errno(error))) throw error;
      if (attempt === RETRIES) throw conflict();
      await sleep(10 * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

async function attemptOnce<T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  const connection = await pool.getConnection();
  try {
    const result = await work(statementsOn(connection));
    await connection.query('COMMIT');
    connection.release();
    return result;
  } catch (error) {
    // A connection that cannot roll back must not go back to the pool with its transaction open.
    await connection.query('ROLLBACK').then(
      () => connection.release(),
      () => connection.destroy(),
    );
    throw error;
  }
}

function errno(error: unknown): number {
  return error instanceof Error && 'errno' in error ? Number(error.errno) : 0;
}

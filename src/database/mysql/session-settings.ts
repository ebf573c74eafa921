import type { PoolConnection, PoolOptions } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import type { MysqlServer } from './mysql-server.js';

const TIMEOUT_MS = 1000;

/** Sends DO, since a cluster member that is not primary answers pings, and can answer SELECT 1. */
export async function ping({ host, port, user, password, ssl, stream }: PoolOptions): Promise<void> {
  const login = { host, port, user, password, ssl, stream };
  const connection = await createConnection({ ...login, connectTimeout: TIMEOUT_MS });
  try {
    await connection.query({ sql: 'DO 1', timeout: TIMEOUT_MS });
  } finally {
    connection.destroy();
  }
}

export const STATEMENT_TIMEOUT_SECONDS = 5;

const LOCK_WAIT_SECONDS = 2;
/** longer than a request may take */
const IDLE_TRANSACTION_SECONDS = 5;
const STRICT_MODE =
  'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/** READ COMMITTED locks no gaps between rows, so that new users do not block each other. */
export function sessionSettings({ type, galera }: MysqlServer, limited: boolean): string[] {
  const statementTimeoutSeconds = limited ? STATEMENT_TIMEOUT_SECONDS : 0;
  const isolation = limited ? 'READ COMMITTED' : 'REPEATABLE READ';
  const settings = [
    `sql_mode = '${STRICT_MODE}'`,
    "time_zone = '+00:00'",
    `innodb_lock_wait_timeout = ${LOCK_WAIT_SECONDS}`,
    type === 'mariadb'
      ? `max_statement_time = ${statementTimeoutSeconds}`
      : `max_execution_time = ${statementTimeoutSeconds * 1000}`,
  ];
  // Without it, a transaction that the network cut off keeps its locks until the server misses the client, hours
  // later. MySQL has no such limit.
  if (limited && type === 'mariadb') settings.push(`idle_transaction_timeout = ${IDLE_TRANSACTION_SECONDS}`);
  // On a multi-primary cluster every kind of statement waits for what other nodes have committed: if only reads
  // did, an UPDATE or a foreign key could miss a row and look like a 404.
  if (galera) settings.push('wsrep_sync_wait = 7');
  return [
    `SET SESSION ${settings.join(', SESSION ')}`,
    `SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`,
    // A cluster member that is not primary accepts settings. It refuses this, so the next host is used.
    ...(galera ? ['DO 1'] : []),
  ];
}

// Awaited before the connection is used: mysql2 starts the time limit of a statement when it is sent, and drops without
// an error what waits on a destroyed connection, so a statement behind a setting that hangs would wait for ever.
export async function applySettings(
  connection: PoolConnection,
  settings: readonly string[],
  timeoutMs: number | undefined,
): Promise<void> {
  try {
    await Promise.all(settings.map((sql) => apply(connection, { sql, timeout: timeoutMs })));
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

function apply(connection: PoolConnection, setting: { sql: string; timeout?: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(setting, (error) => (error ? reject(error) : resolve()));
  });
}

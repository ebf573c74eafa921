import { createConnection } from 'mysql2/promise';
import type { MysqlLocation } from '../config/env.js';

export interface MysqlServer {
  /** MariaDB and MySQL differ in how they report their schema; TypeORM wants to know which it talks to. */
  type: 'mariadb' | 'mysql';
  /** Run on every new connection; see `docs`: strict mode, UTC, and no statement without an end. */
  sessionSettings: string;
}

const CONNECT_TIMEOUT_MS = 3000;
const STATEMENT_TIMEOUT_SECONDS = 5;
const LOCK_WAIT_SECONDS = 3;
const STRICT_MODE =
  'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/** Asks the server what it is, rather than the user. */
export async function identifyMysqlServer(location: MysqlLocation): Promise<MysqlServer> {
  const [first] = location.hosts;
  const connection = await createConnection({
    host: first!.host,
    port: first!.port,
    user: location.user,
    password: location.password,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  try {
    const [rows] = await connection.query('SELECT VERSION() AS version, @@version_comment AS comment');
    const { version, comment } = (rows as { version: string; comment: string }[])[0]!;
    const [wsrep] = await connection.query("SHOW GLOBAL VARIABLES LIKE 'wsrep_sync_wait'");
    const type = /mariadb/i.test(`${version} ${comment}`) ? 'mariadb' : 'mysql';
    return { type, sessionSettings: sessionSettings(type, (wsrep as unknown[]).length > 0) };
  } finally {
    connection.destroy();
  }
}

function sessionSettings(type: 'mariadb' | 'mysql', galera: boolean): string {
  const settings = [
    `sql_mode = '${STRICT_MODE}'`,
    "time_zone = '+00:00'",
    `innodb_lock_wait_timeout = ${LOCK_WAIT_SECONDS}`,
    type === 'mariadb'
      ? `max_statement_time = ${STATEMENT_TIMEOUT_SECONDS}`
      : `max_execution_time = ${STATEMENT_TIMEOUT_SECONDS * 1000}`,
  ];
  // Reads on a multi-primary cluster wait until what was acknowledged by another node has arrived.
  if (galera) settings.push('wsrep_sync_wait = 1');
  return `SET SESSION ${settings.join(', SESSION ')}`;
}

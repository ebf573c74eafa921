import type { MysqlServer } from './mysql-server.js';

/** the longest that one statement runs, in seconds */
export const STATEMENT_TIMEOUT_SECONDS = 5;

const LOCK_WAIT_SECONDS = 2;
const STRICT_MODE =
  'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/**
 * What every new connection is set to, whatever the server's own defaults are. Requests have limits, and read
 * what is committed: a statement that reads in order to write then locks rows and no gaps between them, so that
 * new users hold each other up nowhere. Without limits a transaction sees one moment.
 */
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
  // On a multi-primary cluster every kind of statement waits until what another node acknowledged has arrived:
  // with reads alone, an UPDATE or a foreign key can still miss a row and look like a 404.
  if (galera) settings.push('wsrep_sync_wait = 7');
  return [
    `SET SESSION ${settings.join(', SESSION ')}`,
    `SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`,
  ];
}

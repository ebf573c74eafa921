import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { PoolOptions, RowDataPacket, SslOptions } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { type DatabaseTls, isVerified, type MysqlLocation } from '../../config/database-url.js';
import {
  isDatabaseAbsent,
  isDatabaseUnreachable,
  isLockWaitTimeout,
  mayNeedTls,
} from '../transactions/database-errors.js';

interface MysqlServer {
  type: 'mariadb' | 'mysql';
  galera: boolean;
}

type ServerLogin = Pick<PoolOptions, 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl' | 'stream'>;

type Ask = (sql: string) => Promise<RowDataPacket[]>;

const ANSWER_TIMEOUT_MS = 1500;
const PING_TIMEOUT_MS = 1000;
const PAUSE_MS = 1000;
const REPORT_EVERY = 10;

// Waits until a host answers; without `forAbsent` only for hosts that are slow or cannot serve yet. @throws a refusal
export async function identifyMysqlServer(location: MysqlLocation, forAbsent: boolean): Promise<MysqlServer> {
  const logger = new Logger('Database');
  for (let attempt = 0; ; attempt += 1) {
    let refusal: unknown;
    const absences: unknown[] = [];
    for (const { host, port } of location.hosts) {
      try {
        return await askServer(loginTo(location, host, port), ANSWER_TIMEOUT_MS, identify);
      } catch (error) {
        if (!isDatabaseUnreachable(error) && !isLockWaitTimeout(error))
          refusal ??= explained(error, location, `${host}:${port}: `);
        else if (attempt % REPORT_EVERY === 0) {
          logger.warn({ msg: 'waiting for the database', host: `${host}:${port}`, err: error });
        }
        if (isDatabaseAbsent(error)) absences.push(error);
      }
    }
    if (refusal !== undefined) throw refusal;
    if (!forAbsent && absences.length === location.hosts.length) throw absences[0];
    await sleep(PAUSE_MS);
  }
}

function explained(error: unknown, { tls }: MysqlLocation, prefix = ''): unknown {
  if (!(error instanceof Error)) return error;
  const hint = tls === undefined && mayNeedTls(error) ? '; if it takes TLS only, set DATABASE_SSL' : '';
  return Object.assign(error, { message: `${prefix}${error.message.replace(/\.$/, '')}${hint}` });
}

async function identify(ask: Ask): Promise<MysqlServer> {
  const [server] = await ask('SELECT VERSION() AS version, @@version_comment AS comment');
  const galera = (await ask("SHOW GLOBAL VARIABLES LIKE 'wsrep_sync_wait'")).length > 0;
  // A Galera node that is not primary, or whose cluster waits, answers the statements above, but not these.
  if (galera) for (const sql of ['SET SESSION wsrep_sync_wait = 7', 'DO 1', 'SELECT 1']) await ask(sql);
  const isMariadb = /mariadb/i.test(`${server!['version']} ${server!['comment']}`);
  return { type: isMariadb ? 'mariadb' : 'mysql', galera };
}

/** Logs in to the database of one host. `tls` is empty if the connection is not encrypted. */
export async function describeServer(location: MysqlLocation, host: string, port: number, timeoutMs: number) {
  const login = { ...loginTo(location, host, port), database: location.database };
  try {
    return await askServer(login, timeoutMs, async (ask) => {
      const { type } = await identify(ask);
      const [tls] = await ask("SHOW SESSION STATUS LIKE 'Ssl_version'");
      return { type: type === 'mariadb' ? 'MariaDB' : 'MySQL', tls: String(tls?.['Value'] ?? '') };
    });
  } catch (error) {
    throw explained(error, location);
  }
}

/** Sends DO, because a cluster member that is not primary answers pings and SELECT 1. */
export function ping({ host, port, user, password, ssl, stream }: PoolOptions): Promise<unknown> {
  return askServer({ host, port, user, password, ssl, stream }, PING_TIMEOUT_MS, (ask) => ask('DO 1'));
}

export async function askServer<T>(
  login: ServerLogin,
  timeoutMs: number,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  const connection = await createConnection({ ...login, connectTimeout: timeoutMs });
  try {
    return await work(async (sql) => {
      const [rows] = await connection.query<RowDataPacket[]>({ sql, timeout: timeoutMs });
      return rows;
    });
  } finally {
    connection.destroy();
  }
}

export function loginTo({ user, password, tls }: MysqlLocation, host: string, port: number): ServerLogin {
  return { host, port, user, password, ...tlsOptions(tls, host, port) };
}

/** mysql2 caches TLS settings by the identity of `ssl`. */
export function tlsOptions(
  tls: DatabaseTls | undefined,
  host: string,
  port: number,
): { ssl?: SslOptions; stream?: () => Socket } {
  if (tls === undefined) return {};
  const verifyIdentity = tls.mode === 'verify';
  return {
    ssl: {
      ...(tls.ca !== undefined && { ca: tls.ca }),
      rejectUnauthorized: isVerified(tls),
      verifyIdentity,
    },
    ...(verifyIdentity && isIP(host) !== 0 && { stream: () => connectToAddress(host, port) }),
  };
}

// Node checks a certificate for the name that its lookup left on the socket; mysql2 3.24 makes none for an IP address.
function connectToAddress(host: string, port: number): Socket {
  const socket = connect({ host, port, keepAlive: true, noDelay: true });
  return Object.assign(socket, { _host: host });
}

export const STATEMENT_TIMEOUT_SECONDS = 5;

const LOCK_WAIT_SECONDS = 2;
const IDLE_TRANSACTION_SECONDS = 5;
const STRICT_MODE =
  'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/** READ COMMITTED locks no gaps, so that new users do not block each other. */
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
  // A transaction that the network cut off would keep its locks for hours. MySQL has no such limit.
  if (limited && type === 'mariadb') settings.push(`idle_transaction_timeout = ${IDLE_TRANSACTION_SECONDS}`);
  // Every statement waits for commits of other nodes, or an UPDATE or a foreign key could miss a row.
  if (galera) settings.push('wsrep_sync_wait = 7');
  return [
    `SET SESSION ${settings.join(', SESSION ')}`,
    `SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`,
    ...(galera ? ['DO 1'] : []),
  ];
}

const SETTINGS = `SHOW GLOBAL VARIABLES WHERE Variable_name IN
  ('innodb_flush_log_at_trx_commit', 'log_bin', 'sync_binlog', 'wsrep_on')`;

/** Checks every host that answers, because each may become the primary. */
export async function findUnsafeCommits(location: MysqlLocation) {
  const found = await Promise.allSettled(
    location.hosts.map(({ host, port }) => unsafeCommitsOf(location, host, port)),
  );
  return found
    .flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    .filter(({ settings }) => settings.length > 0);
}

async function unsafeCommitsOf(location: MysqlLocation, host: string, port: number) {
  const rows = await askServer(loginTo(location, host, port), ANSWER_TIMEOUT_MS, (ask) => ask(SETTINGS));
  const values = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  // After a crash, the server rolls back transactions that the binary log lacks, although InnoDB has them.
  const hasLog = values.get('log_bin') === 'ON';
  const needed = ['innodb_flush_log_at_trx_commit', ...(hasLog ? ['sync_binlog'] : [])];
  const unsafe = needed.filter((name) => values.get(name) !== '1');
  const ifAll = values.get('wsrep_on') === 'ON' ? ', if all nodes of the cluster crash at once' : '';
  return {
    host: `${host}:${port}`,
    settings: unsafe.map((name) => `${name}=${values.get(name)}`),
    cost: `a crash can lose changes of the last second that were acknowledged${ifAll}`,
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type Connection, createConnection } from 'mysql2/promise';
import type { MysqlLocation } from '../../config/database-url.js';
import {
  isDatabaseAbsent,
  isDatabaseUnreachable,
  isLockWaitTimeout,
  mayNeedTls,
} from '../transactions/database-errors.js';
import { tlsOptions } from './mysql-tls.js';

export interface MysqlServer {
  /** TypeORM must know which it is, as the two report their schema differently. */
  type: 'mariadb' | 'mysql';
  galera: boolean;
}

const CONNECT_TIMEOUT_MS = 1500;
const PAUSE_MS = 1000;
const REPORT_EVERY = 10;
const WAIT_FOR_CLUSTER = 'SET SESSION wsrep_sync_wait = 7';

// Waits until a host answers; unless `forAbsent`, only for hosts that are slow or cannot serve yet. If no host accepts
// us, throws the refusal of one, such as a wrong password or a bad certificate.
export async function identifyMysqlServer(location: MysqlLocation, forAbsent: boolean): Promise<MysqlServer> {
  const logger = new Logger('Database');
  for (let attempt = 0; ; attempt += 1) {
    let refusal: unknown;
    const absences: unknown[] = [];
    for (const { host, port } of location.hosts) {
      try {
        return await identify(location, host, port);
      } catch (error) {
        if (!isDatabaseUnreachable(error) && !isLockWaitTimeout(error))
          refusal ??= explained(error, location, `${host}:${port}`);
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

/** Names the host, and hints at TLS: MariaDB reports a wrong password where it only requires TLS. */
function explained(error: unknown, { tls }: MysqlLocation, host: string): unknown {
  if (!(error instanceof Error)) return error;
  const hint = tls === undefined && mayNeedTls(error) ? '; if it takes TLS only, set DATABASE_SSL' : '';
  return Object.assign(error, { message: `${host}: ${error.message.replace(/\.$/, '')}${hint}` });
}

async function identify(
  { user, password, tls }: MysqlLocation,
  host: string,
  port: number,
): Promise<MysqlServer> {
  const connection = await createConnection({
    host,
    port,
    user,
    password,
    ...tlsOptions(tls, host, port),
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  try {
    const [rows] = await connection.query({
      sql: 'SELECT VERSION() AS version, @@version_comment AS comment',
      timeout: CONNECT_TIMEOUT_MS,
    });
    const [{ version, comment }] = rows as [{ version: string; comment: string }];
    const [galera] = await connection.query({
      sql: "SHOW GLOBAL VARIABLES LIKE 'wsrep_sync_wait'",
      timeout: CONNECT_TIMEOUT_MS,
    });
    const isGalera = (galera as unknown[]).length > 0;
    if (isGalera) await requireServing(connection);
    return { type: /mariadb/i.test(`${version} ${comment}`) ? 'mariadb' : 'mysql', galera: isGalera };
  } finally {
    connection.destroy();
  }
}

/** A Galera node that is not primary, or whose cluster waits for other nodes, still answers the statements above. */
async function requireServing(connection: Connection): Promise<void> {
  for (const sql of [WAIT_FOR_CLUSTER, 'DO 1', 'SELECT 1']) {
    await connection.query({ sql: sql, timeout: CONNECT_TIMEOUT_MS });
  }
}

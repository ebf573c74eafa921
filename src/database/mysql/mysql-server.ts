import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { createConnection } from 'mysql2/promise';
import type { MysqlLocation } from '../../config/env.js';
import { isDatabaseUnreachable } from '../database-errors.js';
import type { HostAddress } from './mysql-pool.js';

export interface MysqlServer {
  /** MariaDB and MySQL differ in how they report their schema; TypeORM wants to know which it talks to. */
  type: 'mariadb' | 'mysql';
  /** it can be a member of a multi-primary cluster */
  galera: boolean;
}

const CONNECT_TIMEOUT_MS = 1500;
const PAUSE_MS = 1000;
const REPORT_EVERY = 10;

/**
 * Asks the first host that answers what it is, rather than the user. Waits, and says so, until one does.
 *
 * @throws what the server answers when it refuses us, such as a wrong password
 */
export async function identifyMysqlServer(location: MysqlLocation): Promise<MysqlServer> {
  const logger = new Logger('Database');
  for (let attempt = 0; ; attempt += 1) {
    for (const address of location.hosts) {
      try {
        return await identify(location, address);
      } catch (error) {
        if (!isDatabaseUnreachable(error)) throw error;
        if (attempt % REPORT_EVERY === 0) {
          logger.warn({
            msg: 'waiting for the database',
            host: `${address.host}:${address.port}`,
            err: error,
          });
        }
      }
    }
    await sleep(PAUSE_MS);
  }
}

async function identify(
  { user, password }: MysqlLocation,
  { host, port }: HostAddress,
): Promise<MysqlServer> {
  const connection = await createConnection({
    host,
    port,
    user,
    password,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
  try {
    const [rows] = await connection.query({
      sql: 'SELECT VERSION() AS version, @@version_comment AS comment',
      timeout: CONNECT_TIMEOUT_MS,
    });
    const { version, comment } = (rows as { version: string; comment: string }[])[0]!;
    const [galera] = await connection.query({
      sql: "SHOW GLOBAL VARIABLES LIKE 'wsrep_sync_wait'",
      timeout: CONNECT_TIMEOUT_MS,
    });
    return {
      type: /mariadb/i.test(`${version} ${comment}`) ? 'mariadb' : 'mysql',
      galera: (galera as unknown[]).length > 0,
    };
  } finally {
    connection.destroy();
  }
}

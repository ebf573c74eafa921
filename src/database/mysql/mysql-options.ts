import type { DataSourceOptions } from 'typeorm';
import type { MysqlLocation } from '../../config/database-url.js';
import type { Purpose, Schema } from '../schema.js';
import { mysqlDriver } from './mysql-driver.js';
import { identifyMysqlServer } from './mysql-server.js';
import { sessionSettings, STATEMENT_TIMEOUT_SECONDS } from './session-settings.js';

const CONNECT_TIMEOUT_MS = 3000;
const CONNECT_TIMEOUT_OF_SEVERAL_MS = 1000;
/** longer than the server's own limit, so that it strikes only when the server hangs */
const SILENCE_TIMEOUT_MS = STATEMENT_TIMEOUT_SECONDS * 1000 + 500;

export async function mysqlOptions(
  location: MysqlLocation,
  poolSize: number,
  schema: Schema,
  purpose: Purpose,
): Promise<DataSourceOptions> {
  const isForOperator = purpose === 'command' || purpose === 'inspection';
  const server = await identifyMysqlServer(location, !isForOperator);
  const limited = purpose === 'requests' || purpose === 'command';
  return {
    ...schema,
    type: server.type,
    driver: mysqlDriver(location, sessionSettings(server, limited)),
    username: location.user,
    password: location.password,
    database: location.database,
    charset: 'utf8mb4',
    timezone: 'Z',
    // Half are for transactions; a migration holds one of the others, and renews its lease on another.
    poolSize: limited ? poolSize : Math.max(poolSize, 4),
    bigNumberStrings: false,
    connectTimeout: location.hosts.length > 1 ? CONNECT_TIMEOUT_OF_SEVERAL_MS : CONNECT_TIMEOUT_MS,
    ...(limited && { maxQueryExecutionTime: SILENCE_TIMEOUT_MS }),
    synchronize: false,
    logging: false,
  };
}

import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { times } from '../support/at-once.js';
import { SCHEMA } from '../../src/app/schema.js';
import { parseEnv } from '../../src/config/env.js';
import { createDataSource, dataSourceOptions } from '../../src/database/database.module.js';
import { NO_LIMITS } from '../support/service.js';
import type { Place } from '../support/accounts-command.js';
import type { Environment } from '../support/service-process.js';
import { removeAtExit } from '../../tooling/processes/at-exit.js';
import { GaleraCluster } from '../faults/support/galera-cluster.js';
import {
  closeAfterTest,
  hostsUrl,
  type RestartableService,
  startAt,
  Storage,
} from '../faults/support/deployment.js';
import { faultsOfCluster, faultsOfInstance, faultsOfServer, type FaultSeries } from './faults.js';

/** Instances of Accounts on a database until the test ends, and what may go wrong there. */
export interface Stage {
  services: RestartableService[];
  /** where commands of an operator run */
  place: Place;
  faults: FaultSeries[];
}

const INSTANCES = 2;
const ENVIRONMENT: Environment = {
  ...NO_LIMITS,
  REFRESH_GRACE: '0s',
  CODE_TTL: '10m',
  OPERATORS_SECOND_FACTOR: 'optional',
};

/** The operator's own database, if there is one; else those that a run starts for itself. */
export const SET_UPS: readonly { name: string; start: () => Promise<Stage> }[] =
  process.env['TEST_DATABASE_URL'] === undefined
    ? [
        { name: 'SQLite', start: onSqlite },
        { name: 'MariaDB', start: onMariadb },
        { name: 'two Galera nodes', start: onGalera },
      ]
    : [{ name: 'TEST_DATABASE_URL', start: () => onOwnDatabase(process.env['TEST_DATABASE_URL']!) }];

async function onSqlite(): Promise<Stage> {
  return aStage(await closeAfterTest(Storage.on('sqlite')), [{}], []);
}

/**
 * On a disk: in /dev/shm, InnoDB maps its log into memory, and a killed server loses nothing whatever its settings are. With a
 * binary log: without it, readers see a commit before it is on disk (MySQL bug 74303).
 */
async function onMariadb(): Promise<Stage> {
  const directory = removeAtExit(mkdtempSync(join(tmpdir(), 'accounts-mariadb-')));
  const args = ['--log-bin=binlog', '--sync-binlog=1', '--binlog-format=ROW'];
  const storage = await closeAfterTest(Storage.on('mariadb', { durable: true, directory, args }));
  const envs = times(INSTANCES, () => ({}));
  return aStage(storage, envs, [faultsOfServer(storage.server)]);
}

/** Each instance prefers a node of its own. */
async function onGalera(): Promise<Stage> {
  const cluster = await closeAfterTest(GaleraCluster.start({ nodes: 2 }));
  const ports = cluster.nodes.map(({ port }) => port);
  const storage = await closeAfterTest(Storage.at(ports[0]!));
  const envs = [ports, ports.toReversed()].map((order) => ({
    DATABASE_URL: hostsUrl(storage.installation, order),
  }));
  return aStage(storage, envs, [faultsOfCluster(cluster)]);
}

/** Nothing is ever deleted there: neither what the run has made nor anything else. */
async function onOwnDatabase(url: string): Promise<Stage> {
  const storage = await closeAfterTest(Storage.on('sqlite'));
  const given = ['DATABASE_SSL', 'DATABASE_SSL_CA'].filter((name) => process.env[name] !== undefined);
  const own = { DATABASE_URL: url, ...Object.fromEntries(given.map((name) => [name, process.env[name]!])) };
  await requireEmpty(storage, own);
  const envs = times(url.startsWith('sqlite:') ? 1 : INSTANCES, () => own);
  return { ...(await aStage(storage, envs, [])), faults: [] };
}

/** @throws Error if the database has tables or views, or cannot be reached */
async function requireEmpty({ installation }: Storage, own: Record<string, string>): Promise<void> {
  const env = parseEnv({ ...installation.env, ...own });
  if (env.database.engine === 'sqlite' && !existsSync(env.database.file)) return;
  const options = await dataSourceOptions(env, { ...SCHEMA, migrations: [] }, 'inspection');
  const dataSource = await createDataSource(options).initialize();
  const tables = await dataSource.query<unknown[]>(
    env.database.engine === 'sqlite'
      ? 'SELECT name FROM sqlite_master'
      : 'SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  await dataSource.destroy();
  if (tables.length === 0) return;
  throw new Error(
    `The database of TEST_DATABASE_URL is not empty (${tables.length} tables), so the histories did not run: ` +
      'name an empty database, which the run fills and from which it deletes nothing.',
  );
}

async function aStage(storage: Storage, envs: Environment[], faults: FaultSeries[]): Promise<Stage> {
  const services: RestartableService[] = [];
  for (const env of envs) services.push(await startAt(storage, { ...ENVIRONMENT, ...env }));
  const { directory, env } = storage.installation;
  const place = { directory, env: { ...env, ...ENVIRONMENT, ...envs[0] } };
  return { services, place, faults: [...services.map(faultsOfInstance), ...faults] };
}

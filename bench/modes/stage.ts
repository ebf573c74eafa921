import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill } from '../fixture/fill.ts';
import { createFixture, type Fixture } from '../fixture/fixture.ts';
import { AMONG_THE_CROWD, NEWCOMERS } from '../fixture/names.ts';
import { BASELINE_SCRIPT, type Options } from '../options.ts';
import { type Contenders, databaseName, type SideName, SIDES } from '../servers/contenders.ts';
import { startFilled } from '../servers/filled-server.ts';
import type { HttpServer } from '../servers/http-server.ts';
import { type PrivateMariaDb, startMariaDb } from '../servers/mariadb.ts';
import { residentMib } from '../servers/process-usage.ts';
import { programOf } from './program.ts';

export interface Stage extends Contenders<SideName> {
  database: string;
  fixture: Fixture;
  /** resident memory in MiB before the load, after a while of nothing to do */
  atRest: Record<SideName, number | undefined>;
}

/** Both servers, running, each on a database of its own with the same rows. */
export async function prepare(options: Options, directory: string): Promise<Stage> {
  const { crowd, plan } = options;
  const mariadb = options.engine === 'mariadb' ? await startMariaDb(directory) : undefined;
  const fixture = createFixture(crowd > 0 ? AMONG_THE_CROWD : NEWCOMERS);
  const start = async (side: SideName): Promise<HttpServer> => {
    const script = side === 'service' ? options.serviceScript : BASELINE_SCRIPT;
    const url = await databaseUrl(mariadb, side, directory);
    const program = programOf(options, { script, name: side, databaseUrl: url }, directory);
    return startFilled(program, () => fill(url, [fixture], crowd), plan.starts);
  };
  const servers = { service: await start('service'), baseline: await start('baseline') };
  await sleep(plan.restMs);
  return {
    database: mariadb ? `MariaDB ${mariadb.version}` : `SQLite ${process.versions['sqlite'] ?? ''}`,
    databasePid: mariadb?.pid,
    fixture,
    names: SIDES,
    servers,
    atRest: residentOf(servers),
  };
}

export function residentOf(servers: Record<SideName, HttpServer>): Record<SideName, number | undefined> {
  const [service, baseline] = SIDES.map((side) => residentMib(servers[side].pids()));
  return { service, baseline };
}

async function databaseUrl(
  mariadb: PrivateMariaDb | undefined,
  side: SideName,
  directory: string,
): Promise<string> {
  return mariadb ? mariadb.createDatabase(databaseName(side)) : `sqlite:${join(directory, `${side}.sqlite`)}`;
}

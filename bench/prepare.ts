import { join } from 'node:path';
import { hashPassword } from './baseline/passwords.ts';
import { seedCrowd } from './fixture/crowd.ts';
import { createFixture, type Fixture, PASSWORD } from './fixture/fixture.ts';
import { fixtureRows } from './fixture/rows.ts';
import { seed } from './fixture/seed.ts';
import { BASELINE_SCRIPT, type Options } from './options.ts';
import { environment, type SideName, SIDES } from './servers/contenders.ts';
import { type HttpServer, startHttpServer } from './servers/http-server.ts';
import { type PrivateMariaDb, startMariaDb } from './servers/mariadb.ts';
import { residentMib } from './servers/process-usage.ts';

export interface Stage {
  database: string;
  /** undefined for SQLite, which has no process of its own */
  databasePid: number | undefined;
  fixture: Fixture;
  servers: Record<SideName, HttpServer>;
  /** resident memory in MiB before the first request */
  atRest: Record<SideName, number | undefined>;
}

/** Both servers, running, each on a database of its own with the same rows. */
export async function prepare(options: Options, directory: string): Promise<Stage> {
  const mariadb = options.engine === 'mariadb' ? await startMariaDb(directory) : undefined;
  const fixture = createFixture();
  const rows = fixtureRows(fixture, await hashPassword(PASSWORD), Date.now());
  const start = async (side: SideName): Promise<HttpServer> => {
    const script = side === 'service' ? options.serviceScript : BASELINE_SCRIPT;
    const url = await databaseUrl(mariadb, side, directory);
    const env = environment(side, url, directory);
    // The first start makes the tables. It ends before they are filled: SQLite has one process for a file.
    const first = await startHttpServer(script, env, directory);
    await first.stop();
    await seed(url, rows);
    await seedCrowd(url, options.crowd);
    return startHttpServer(script, env, directory);
  };
  const servers = { service: await start('service'), baseline: await start('baseline') };
  return {
    database: mariadb ? `MariaDB ${mariadb.version}` : `SQLite ${process.versions['sqlite'] ?? ''}`,
    databasePid: mariadb?.pid,
    fixture,
    servers,
    atRest: residentOf(servers),
  };
}

export function residentOf(servers: Record<SideName, HttpServer>): Record<SideName, number | undefined> {
  const [service, baseline] = SIDES.map((side) => residentMib(servers[side].pid));
  return { service, baseline };
}

async function databaseUrl(
  mariadb: PrivateMariaDb | undefined,
  side: SideName,
  directory: string,
): Promise<string> {
  return mariadb ? mariadb.createDatabase(`bench_${side}`) : `sqlite:${join(directory, `${side}.sqlite`)}`;
}

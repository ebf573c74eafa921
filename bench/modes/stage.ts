import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill } from '../fixture/fill.ts';
import { createFixture, withoutSecondFactors } from '../fixture/fixture.ts';
import { AMONG_THE_CROWD, NEWCOMERS } from '../fixture/names.ts';
import type { MariaDbServer } from '../../tooling/servers/mariadb.ts';
import type { OperationName } from '../load/call.ts';
import type { Options } from '../options.ts';
import { databaseName, type SideName, SIDES } from '../servers/contenders.ts';
import { startFilled } from '../servers/filled-server.ts';
import type { HttpServer } from '../servers/http-server.ts';
import { keysFile } from '../servers/keys-file.ts';
import { describeMariaDb, startMariaDb } from '../servers/mariadb.ts';
import { residentOf, type Stage } from '../servers/stage.ts';
import { programOf } from './program.ts';

export async function prepare(
  options: Options,
  operations: OperationName[],
  directory: string,
): Promise<Stage> {
  const { crowd, plan } = options;
  const mariadb = options.engine === 'mariadb' ? await startMariaDb(directory) : undefined;
  const all = createFixture(keysFile(directory), crowd > 0 ? AMONG_THE_CROWD : NEWCOMERS);
  const fixture = operations.includes('second step') ? all : withoutSecondFactors(all);
  const start = async (side: SideName): Promise<HttpServer> => {
    const script = side === 'service' ? options.serviceScript : options.opponentScript;
    const url = await databaseUrl(mariadb, side, directory);
    const program = programOf(options, { script, databaseUrl: url }, directory);
    return startFilled(program, () => fill(url, [fixture], crowd), plan.starts);
  };
  const servers = { service: await start('service'), baseline: await start('baseline') };
  await sleep(plan.restMs);
  return {
    database: mariadb ? await describeMariaDb(mariadb) : `SQLite ${process.versions['sqlite'] ?? ''}`,
    databasePid: mariadb?.pid,
    fixture,
    names: SIDES,
    servers,
    atRest: residentOf(servers),
  };
}

async function databaseUrl(
  mariadb: MariaDbServer | undefined,
  side: SideName,
  directory: string,
): Promise<string> {
  return mariadb ? mariadb.createDatabase(databaseName(side)) : `sqlite:${join(directory, `${side}.sqlite`)}`;
}

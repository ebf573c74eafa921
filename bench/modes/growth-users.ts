import { performance } from 'node:perf_hooks';
import { fill } from '../fixture/fill.ts';
import { createFixture } from '../fixture/fixture.ts';
import { AMONG_THE_CROWD } from '../fixture/names.ts';
import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import { grouped } from '../report/table.ts';
import { startFilled } from '../servers/filled-server.ts';
import type { HttpServer } from '../servers/http-server.ts';
import { keysFile } from '../servers/keys-file.ts';
import type { LoadDriver } from '../servers/load-driver.ts';
import type { MariaDbServer } from '../../tooling/servers/mariadb.ts';
import { databaseName } from '../servers/contenders.ts';
import { type Contest, runContest } from './contest.ts';
import { programOf } from './program.ts';

/** In the order of a round: later operations use what earlier ones have created. */
const OPERATIONS = [
  'me',
  'issue code',
  'exchange code',
  'add member',
  'change role',
  'remove member',
] as const;

/** The same users and the same load, among so many others. */
export async function growthOfUsers(
  options: Options,
  crowds: number[],
  mariadb: MariaDbServer,
  driver: LoadDriver,
  directory: string,
): Promise<Contest> {
  const fixture = createFixture(keysFile(directory), AMONG_THE_CROWD);
  const servers: Record<string, HttpServer> = {};
  for (const crowd of crowds) {
    const name = `${grouped(crowd)} users`;
    const databaseUrl = await mariadb.createDatabase(databaseName(name));
    const program = programOf(options, { script: options.serviceScript, databaseUrl }, directory);
    const begun = performance.now();
    servers[grouped(crowd)] = await startFilled(program, () => fill(databaseUrl, [fixture], crowd));
    progress(`${name} are there, after ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }
  const contenders = { names: Object.keys(servers), servers, databasePid: mariadb.pid };
  const contest = await runContest(options, OPERATIONS, contenders, () => fixture, driver);
  for (const server of Object.values(servers)) await server.stop();
  return contest;
}

import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill } from '../fixture/fill.ts';
import type { Fixture } from '../fixture/fixture.ts';
import { addCrowdToOrg, sizedOrgs } from '../fixture/sized-orgs.ts';
import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import type { ListReading } from '../report/growth-report.ts';
import { grouped } from '../report/table.ts';
import { databaseName } from '../servers/contenders.ts';
import { startFilled } from '../servers/filled-server.ts';
import { type HttpServer, type Program, startHttpServer } from '../servers/http-server.ts';
import type { LoadDriver } from '../servers/load-driver.ts';
import type { MariaDbServer } from '../../tooling/servers/mariadb.ts';
import { residentMib } from '../../tooling/processes/usage.ts';
import { watchResident } from '../servers/resident-watch.ts';
import { type Contest, runContest } from './contest.ts';
import { programOf } from './program.ts';

/** In the order of a round: a member is added before it is changed and removed. */
const OPERATIONS = ['me', 'add member', 'change role', 'remove member', 'first page of 20'] as const;

/** How often the longest list is read. The others are read as often as gives as many members, within a time. */
const READS = 5;
const READING_MS = 10_000;

/** The same load on organizations of different sizes, in one database. */
export async function growthOfMembers(
  options: Options,
  sizes: number[],
  mariadb: MariaDbServer,
  driver: LoadDriver,
  directory: string,
): Promise<{ contest: Contest; lists: ListReading[] }> {
  const name = 'organizations';
  const databaseUrl = await mariadb.createDatabase(databaseName(name));
  const program = programOf(options, { script: options.serviceScript, databaseUrl }, directory);
  const fixtures = new Map(sizes.map((size) => [grouped(size), sizedOrgs(size)]));
  const longest = Math.max(...sizes);
  const begun = performance.now();
  const server = await startFilled(program, async () => {
    await fill(databaseUrl, [...fixtures.values()], longest);
    await addCrowdToOrg(databaseUrl, [...fixtures.values()]);
  });
  progress(
    `organizations of up to ${grouped(longest)} members are there, after ${((performance.now() - begun) / 1000).toFixed(0)} s`,
  );

  const servers = Object.fromEntries(
    [...fixtures.keys()].map((size): [string, HttpServer] => [size, server]),
  );
  const contenders = { names: [...fixtures.keys()], servers, databasePid: mariadb.pid };
  const contest = await runContest(options, OPERATIONS, contenders, (size) => fixtures.get(size)!, driver);
  await server.stop();

  const lists: ListReading[] = [];
  for (const size of sizes) {
    progress(`reading lists of ${grouped(size)} members`);
    const reads = Math.ceil((longest * READS) / size);
    lists.push(await readLists(options, program, fixtures.get(grouped(size))!, { size, reads }, driver));
  }
  return { contest, lists };
}

/** In a new process, since one that has worked does not give its memory back. */
async function readLists(
  { plan }: Options,
  program: Program,
  fixture: Fixture,
  { size, reads }: { size: number; reads: number },
  driver: LoadDriver,
): Promise<ListReading> {
  const server = await startHttpServer(program);
  const side = `list of ${grouped(size)}`;
  await driver.open(side, server.url, fixture);
  await sleep(plan.restMs);

  const rest = residentMib(server.pids());
  const peak = watchResident(server.pids);
  const measured = await driver.drive(side, 'whole list', {
    connections: 1,
    durationMs: READING_MS,
    requests: reads,
  });
  const most = peak();
  await server.stop();
  return {
    members: size,
    reads: measured.requests,
    p99: measured.p99,
    restMib: rest,
    peakMib: rest === undefined || most === undefined ? undefined : most - rest,
  };
}

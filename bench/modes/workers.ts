import { fill } from '../fixture/fill.ts';
import { createFixture } from '../fixture/fixture.ts';
import { AMONG_THE_CROWD, NEWCOMERS } from '../fixture/names.ts';
import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import { surroundings } from '../report/surroundings.ts';
import { type WorkersReport, workersMarkdown } from '../report/workers-report.ts';
import type { Written } from '../report/written.ts';
import { databaseName } from '../servers/contenders.ts';
import { startFilled } from '../servers/filled-server.ts';
import type { HttpServer } from '../servers/http-server.ts';
import { keysFile } from '../servers/keys-file.ts';
import { startLoadDriver } from '../servers/load-driver.ts';
import { describeMariaDb, startMariaDb } from '../servers/mariadb.ts';
import { cpuMs } from '../../tooling/processes/usage.ts';
import { runContest } from './contest.ts';
import { programOf } from './program.ts';

const OPERATIONS = ['me', 'login', 'list of 20', 'change role'] as const;

/** The service in one process, and the service in several. */
export async function workersBesideOne(
  options: Options,
  workers: number,
  directory: string,
): Promise<Written> {
  const { plan, quick, crowd } = options;
  progress('starting the database and the services');
  const mariadb = await startMariaDb(directory);
  const fixture = createFixture(keysFile(directory), crowd > 0 ? AMONG_THE_CROWD : NEWCOMERS);
  const servers: Record<string, HttpServer> = {};
  for (const count of [1, workers]) {
    const name = count === 1 ? '1 worker' : `${count} workers`;
    const databaseUrl = await mariadb.createDatabase(databaseName(name));
    const variables = { WEB_CONCURRENCY: String(count) };
    const program = programOf(options, { script: options.serviceScript, databaseUrl }, directory, variables);
    servers[name] = await startFilled(program, () => fill(databaseUrl, [fixture], crowd));
    requireWorkers(servers[name], count);
  }
  const contenders = { names: Object.keys(servers), servers, databasePid: mariadb.pid };
  const contest = await runContest(options, OPERATIONS, contenders, () => fixture, startLoadDriver());
  const { hashEngine, foreignLoad } = contest;
  const report: WorkersReport = {
    ...surroundings({ database: await describeMariaDb(mariadb), hashEngine, quick, crowd, foreignLoad }),
    workers,
    connections: plan.connections,
    rounds: contest.rounds,
    phaseMs: plan.phaseMs,
    operations: contest.operations,
  };
  return { name: 'workers', report, markdown: workersMarkdown(report) };
}

/** A service that was told of several workers may still decide for one. */
function requireWorkers(server: HttpServer, count: number): void {
  const pids = server.pids();
  const visible = cpuMs(pids) !== undefined;
  if (visible && count > 1 && pids.length !== 1 + count) {
    throw new Error(
      `The service runs in ${pids.length} processes, not in ${count} workers and their supervisor`,
    );
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { fill } from '../fixture/fill.ts';
import { createFixture } from '../fixture/fixture.ts';
import { AMONG_THE_CROWD, NEWCOMERS } from '../fixture/names.ts';
import type { Options } from '../options.ts';
import { progress } from '../progress.ts';
import { usedHashEngine } from '../report/used-hash-engine.ts';
import { type SoakReport, soakMarkdown, type SoakStep } from '../report/soak-report.ts';
import { surroundings } from '../report/surroundings.ts';
import { grouped } from '../report/table.ts';
import type { Written } from '../report/written.ts';
import { processIds } from '../rounds.ts';
import { databaseName } from '../servers/contenders.ts';
import { startFilled } from '../servers/filled-server.ts';
import { watchForeignLoad } from '../servers/foreign-load.ts';
import type { HttpServer } from '../servers/http-server.ts';
import { keysFile } from '../servers/keys-file.ts';
import { type LoadDriver, startLoadDriver } from '../servers/load-driver.ts';
import { describeMariaDb, startMariaDb } from '../servers/mariadb.ts';
import { residentMib } from '../../tooling/processes/usage.ts';
import { watchResident } from '../servers/resident-watch.ts';
import { programOf } from './program.ts';

const NAME = 'service';
const STEPS = 10;
const WARM_UP_SHARE = 0.02;
/** The number of requests is the limit. */
const NO_LIMIT_MS = 86_400_000;

/** The service's memory over so many requests of all kinds. */
export async function soak(options: Options, requests: number, directory: string): Promise<Written> {
  const { plan, quick, crowd } = options;
  progress('starting the database and the service');
  const mariadb = await startMariaDb(directory);
  const fixture = createFixture(keysFile(directory), crowd > 0 ? AMONG_THE_CROWD : NEWCOMERS);
  const databaseUrl = await mariadb.createDatabase(databaseName(NAME));
  const program = programOf(options, { script: options.serviceScript, databaseUrl }, directory);
  const server = await startFilled(program, () => fill(databaseUrl, [fixture], crowd));
  await sleep(plan.restMs);
  const restMib = residentMib(server.pids());

  const driver = startLoadDriver();
  const contenders = { names: [NAME], servers: { [NAME]: server }, databasePid: mariadb.pid };
  const foreignLoad = watchForeignLoad(processIds(contenders, driver));
  await driver.open(NAME, server.url, fixture);
  const send = (share: number): Promise<SoakStep> =>
    step(server, driver, plan.connections, Math.ceil(requests * share));

  progress('warming up');
  const warmUp = await send(WARM_UP_SHARE);
  const tenths: SoakStep[] = [];
  while (tenths.length < STEPS) {
    const tenth = await send(1 / STEPS);
    tenths.push(tenth);
    progress(
      `${tenths.length} of ${STEPS} times ${grouped(tenth.requests)} requests, ${tenth.mib?.toFixed(0) ?? '?'} MiB`,
    );
  }
  const report: SoakReport = {
    ...surroundings({
      database: await describeMariaDb(mariadb),
      hashEngine: usedHashEngine(contenders),
      quick,
      crowd,
      foreignLoad: foreignLoad(),
    }),
    requests,
    connections: plan.connections,
    restMib,
    warmUp,
    tenths,
  };
  return { name: 'soak', report, markdown: soakMarkdown(report) };
}

async function step(
  server: HttpServer,
  driver: LoadDriver,
  connections: number,
  requests: number,
): Promise<SoakStep> {
  const peak = watchResident(server.pids);
  const measured = await driver.drive(NAME, 'mix', { connections, durationMs: NO_LIMIT_MS, requests });
  const mib = residentMib(server.pids());
  return { ...measured, mib, peakMib: peak() };
}

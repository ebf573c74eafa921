import { performance } from 'node:perf_hooks';
import type { Measured } from './load/measure.ts';
import type { DrivableName } from './load/call.ts';
import type { RoundsPlan } from './plan.ts';
import { progress } from './progress.ts';
import type { Contenders } from './servers/contenders.ts';
import { watchForeignLoad } from './servers/foreign-load.ts';
import type { LoadDriver } from './servers/load-driver.ts';
import { cpuMs } from '../tooling/processes/usage.ts';

export interface Sample extends Measured {
  /** processor time of the server for 1,000 requests; undefined where the system does not tell */
  cpuMs: number | undefined;
  /** the same of the database, of the process that makes the load, and of this one, which has the readers of the feed */
  databaseCpuMs: number | undefined;
  driverCpuMs: number | undefined;
  readersCpuMs: number | undefined;
  /** share of the processors that programs other than the benchmark used meanwhile */
  foreignLoad: number | undefined;
}

export type Samples<Name extends string> = Record<Name, Sample[]>;

export interface Schedule<Operation extends DrivableName> {
  operations: readonly Operation[];
  plan: RoundsPlan;
  /** no pair of rounds begins that would not end before then, but the first; on the clock of `performance` */
  until: number;
}

const HASHING: ReadonlySet<DrivableName> = new Set(['register', 'login']);

/** Drives all contenders alternately; who is first changes from round to round. */
export async function runRounds<Name extends string, Operation extends DrivableName>(
  { operations, plan, until }: Schedule<Operation>,
  contenders: Contenders<Name>,
  driver: LoadDriver,
): Promise<Map<Operation, Samples<Name>>> {
  const { connections } = plan;
  const results = new Map(operations.map((operation) => [operation, noSamples(contenders.names)]));

  progress('warming up');
  for (const operation of operations) {
    const durationMs = HASHING.has(operation) ? plan.hashWarmUpMs : plan.warmUpMs;
    for (const name of contenders.names) await driver.drive(name, operation, { connections, durationMs });
  }
  for (
    let round = 0, lastMs = 0;
    round < plan.rounds && (round < 2 || round % 2 === 1 || performance.now() + 2 * lastMs < until);
    round += 1
  ) {
    progress(`round ${round + 1} of ${plan.rounds}`);
    const begun = performance.now();
    for (const operation of operations) {
      for (const name of inTurn(contenders.names, round))
        results.get(operation)![name].push(await sample(plan, contenders, driver, name, operation));
    }
    lastMs = performance.now() - begun;
  }
  return results;
}

export function inTurn<Name>(names: readonly Name[], round: number): readonly Name[] {
  return round % 2 === 0 ? names : names.toReversed();
}

/** All that the benchmark consists of. */
export function processIds(
  { names, servers, databasePid }: Contenders<string>,
  driver: Pick<LoadDriver, 'pid'>,
): number[] {
  const all = [process.pid, driver.pid, databasePid, ...names.flatMap((name) => servers[name]!.pids())];
  return [...new Set(all.filter((pid) => pid !== undefined))];
}

async function sample<Name extends string>(
  plan: RoundsPlan,
  contenders: Contenders<Name>,
  driver: LoadDriver,
  name: Name,
  operation: DrivableName,
): Promise<Sample> {
  const { databasePid } = contenders;
  const server = watchCpu(contenders.servers[name].pids());
  const database = watchCpu(databasePid === undefined ? [] : [databasePid]);
  const load = watchCpu([driver.pid]);
  const readers = watchCpu([process.pid]);
  const foreignLoad = watchForeignLoad(processIds(contenders, driver));
  const durationMs = HASHING.has(operation) ? plan.hashPhaseMs : plan.phaseMs;
  const measured = await driver.drive(name, operation, { connections: plan.connections, durationMs });
  if (measured.requests === 0) {
    throw new Error(`${name}, ${operation}: there was nothing to send; --only needs what makes it, too`);
  }

  const forThousand = (ms: number | undefined): number | undefined =>
    ms === undefined ? undefined : (ms / measured.requests) * 1000;
  return {
    ...measured,
    cpuMs: forThousand(server()),
    databaseCpuMs: forThousand(database()),
    driverCpuMs: forThousand(load()),
    readersCpuMs: forThousand(readers()),
    foreignLoad: foreignLoad(),
  };
}

function watchCpu(pids: number[]): () => number | undefined {
  const before = cpuMs(pids);
  return () => {
    const after = cpuMs(pids);
    return before === undefined || after === undefined ? undefined : after - before;
  };
}

function noSamples<Name extends string>(names: readonly Name[]): Samples<Name> {
  return Object.fromEntries(names.map((name): [string, Sample[]] => [name, []])) as Samples<Name>;
}

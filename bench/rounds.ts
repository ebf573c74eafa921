import { performance } from 'node:perf_hooks';
import type { Flood } from './load/flood.ts';
import type { Measured } from './load/measure.ts';
import type { OperationName } from './load/operations.ts';
import type { Options, Plan } from './options.ts';
import type { Stage } from './prepare.ts';
import { type SideName, SIDES } from './servers/contenders.ts';
import { watchForeignLoad } from './servers/foreign-load.ts';
import type { LoadDriver } from './servers/load-driver.ts';
import { cpuMs } from './servers/process-usage.ts';

export interface Sample extends Measured {
  /** processor time of the server process for 1,000 requests; undefined where the system does not tell */
  cpuMs: number | undefined;
  /** share of the processors that programs other than the benchmark used meanwhile */
  foreignLoad: number | undefined;
}

export type Samples = Record<SideName, Sample[]>;
export type Floods = Record<SideName, Flood[]>;

const HASHING: ReadonlySet<OperationName> = new Set(['register', 'login']);

/** Drives both sides alternately; who is first changes from round to round. */
export async function runRounds(
  options: Options,
  stage: Stage,
  driver: LoadDriver,
  progress: (text: string) => void,
): Promise<Map<OperationName, Samples>> {
  const { operations, plan } = options;
  const results = new Map<OperationName, Samples>(
    operations.map((name) => [name, { service: [], baseline: [] }]),
  );

  progress('warming up');
  for (const name of operations) {
    for (const side of SIDES) await driver.drive(side, name, plan.connections, plan.warmUpMs);
  }
  for (
    let round = 0, lastMs = 0;
    round < plan.rounds && (round % 2 === 1 || fits(plan, 2 * lastMs));
    round += 1
  ) {
    progress(`round ${round + 1} of ${plan.rounds}`);
    const begun = performance.now();
    for (const name of operations) {
      for (const side of inTurn(round))
        results.get(name)![side].push(await sample(plan, stage, driver, side, name));
    }
    lastMs = performance.now() - begun;
  }
  return results;
}

export async function runFloods(
  plan: Plan,
  driver: LoadDriver,
  progress: (text: string) => void,
): Promise<Floods> {
  const floods: Floods = { service: [], baseline: [] };
  for (let round = 0; round < plan.floodRounds; round += 1) {
    progress(`login flood ${round + 1} of ${plan.floodRounds}`);
    for (const side of inTurn(round))
      floods[side].push(await driver.flood(side, plan.connections, plan.floodMs));
  }
  return floods;
}

async function sample(
  plan: Plan,
  stage: Stage,
  driver: LoadDriver,
  side: SideName,
  name: OperationName,
): Promise<Sample> {
  const { pid } = stage.servers[side];
  const before = cpuMs(pid);
  const foreignLoad = watchForeignLoad(processIds(stage, driver));
  const durationMs = HASHING.has(name) ? plan.hashPhaseMs : plan.phaseMs;
  const measured = await driver.drive(side, name, plan.connections, durationMs);
  if (measured.requests === 0) throw new Error(`${side}, ${name}: there was nothing to send`);

  const after = cpuMs(pid);
  const spent = before === undefined || after === undefined ? undefined : after - before;
  return {
    ...measured,
    cpuMs: spent === undefined ? undefined : (spent / measured.requests) * 1000,
    foreignLoad: foreignLoad(),
  };
}

/** All that the benchmark consists of. */
export function processIds({ servers, databasePid }: Stage, driver: LoadDriver): number[] {
  const all = [process.pid, driver.pid, servers.service.pid, servers.baseline.pid, databasePid];
  return all.filter((pid) => pid !== undefined);
}

function inTurn(round: number): readonly SideName[] {
  return round % 2 === 0 ? SIDES : SIDES.toReversed();
}

/** Whether so much more work still ends in time, with the floods after it. */
function fits(plan: Plan, workMs: number): boolean {
  const floodsMs = plan.floodRounds * SIDES.length * 4 * plan.floodMs;
  return performance.now() + workMs + floodsMs + 5000 < plan.budgetMs;
}

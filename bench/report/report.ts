import type { Floods } from '../floods.ts';
import type { OperationName } from '../load/call.ts';
import type { Options } from '../options.ts';
import type { Samples } from '../rounds.ts';
import type { SideName } from '../servers/contenders.ts';
import { residentOf, type Stage } from '../servers/stage.ts';
import { usedHashEngine } from './used-hash-engine.ts';
import { type FloodSummary, type OperationSummary, summarizeFloods, summarizeOperation } from './summary.ts';
import { type Surroundings, surroundings } from './surroundings.ts';

/** Everything that the benchmark found, as it is written to the JSON file. */
export interface Report extends Surroundings {
  opponent: Options['opponent'];
  connections: number;
  rounds: number;
  phaseMs: number;
  operations: OperationSummary[];
  flood: Record<SideName, FloodSummary>;
  processes: Record<
    SideName,
    { startMs: number; atRestMib: number | undefined; afterMib: number | undefined }
  >;
}

export function createReport(
  options: Options,
  stage: Stage,
  results: Map<OperationName, Samples<SideName>>,
  floods: Floods,
  foreignLoad: number | undefined,
): Report {
  const { plan, quick, crowd } = options;
  const after = residentOf(stage.servers);
  const processOf = (side: SideName): Report['processes'][SideName] => ({
    startMs: stage.servers[side].startMs,
    atRestMib: stage.atRest[side],
    afterMib: after[side],
  });
  const { database } = stage;
  return {
    ...surroundings({ database, hashEngine: usedHashEngine(stage), quick, crowd, foreignLoad }),
    opponent: options.opponent,
    connections: plan.connections,
    rounds: Math.max(...[...results.values()].map(({ baseline }) => baseline.length)),
    phaseMs: plan.phaseMs,
    operations: [...results].map(([name, samples]) => summarizeOperation(name, samples)),
    flood: summarizeFloods(floods),
    processes: { service: processOf('service'), baseline: processOf('baseline') },
  };
}

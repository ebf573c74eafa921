import { availableParallelism, cpus, totalmem } from 'node:os';
import { hashEngine } from '../baseline/passwords.ts';
import type { OperationName } from '../load/operations.ts';
import type { Options } from '../options.ts';
import { residentOf, type Stage } from '../prepare.ts';
import type { Floods, Samples } from '../rounds.ts';
import type { SideName } from '../servers/contenders.ts';
import { type FloodSummary, type OperationSummary, summarizeFloods, summarizeOperation } from './summary.ts';

/** Everything that the benchmark found, as it is written to the JSON file. */
export interface Report {
  date: string;
  machine: { cores: number; processor: string; memoryGib: number; system: string };
  node: string;
  database: string;
  hashEngine: string;
  quick: boolean;
  crowd: number;
  /** share of the processors that other programs used meanwhile */
  foreignLoad: number | undefined;
  selfTest: boolean;
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
  results: Map<OperationName, Samples>,
  floods: Floods,
  foreignLoad: number | undefined,
): Report {
  const { plan } = options;
  const after = residentOf(stage.servers);
  const processOf = (side: SideName): Report['processes'][SideName] => ({
    startMs: stage.servers[side].startMs,
    atRestMib: stage.atRest[side],
    afterMib: after[side],
  });
  return {
    date: new Date().toISOString(),
    machine: {
      cores: availableParallelism(),
      processor: cpus()[0]?.model.trim() ?? '',
      memoryGib: Math.round(totalmem() / 2 ** 30),
      system: `${process.platform} ${process.arch}`,
    },
    node: process.version,
    database: stage.database,
    hashEngine,
    quick: options.quick,
    crowd: options.crowd,
    foreignLoad,
    selfTest: options.selfTest,
    connections: plan.connections,
    rounds: Math.max(...[...results.values()].map(({ baseline }) => baseline.length)),
    phaseMs: plan.phaseMs,
    operations: [...results].map(([name, samples]) => summarizeOperation(name, samples)),
    flood: summarizeFloods(floods),
    processes: { service: processOf('service'), baseline: processOf('baseline') },
  };
}

import type { Samples } from '../rounds.ts';
import { calmRounds } from './calm-rounds.ts';
import { type Figures, medians, type Ratio, ratio } from './figures.ts';
import { median } from '../../tooling/median.ts';

const FIGURES = [
  'requestsPerSecond',
  'p50',
  'p99',
  'cpuMs',
  'databaseCpuMs',
  'driverCpuMs',
  'readersCpuMs',
] as const;

/** One contender in one operation, compared with the first contender. */
export interface ContestantSummary {
  name: string;
  figures: Figures<(typeof FIGURES)[number]>;
  /** requests per second, against the first */
  speed: Ratio;
  /** the reverse: what one request costs */
  cost: Ratio;
  /** how many processor cores were busy meanwhile */
  cores: Record<'server' | 'database' | 'driver', number | undefined>;
}

export interface ContestSummary {
  operation: string;
  /** those that were calm enough to count */
  rounds: number;
  contestants: ContestantSummary[];
}

export function summarizeContest<Name extends string>(
  operation: string,
  names: readonly Name[],
  all: Samples<Name>,
): ContestSummary {
  const samples = calmRounds(all);
  const first = samples[names[0]!];
  return {
    operation,
    rounds: first.length,
    contestants: names.map((name) => {
      const own = samples[name];
      const cores = (figure: 'cpuMs' | 'databaseCpuMs' | 'driverCpuMs'): number | undefined =>
        median(own.map((sample) => busyCores(sample[figure], sample.requestsPerSecond)));
      return {
        name,
        figures: medians(own, FIGURES),
        speed: ratio(own, first, 'requestsPerSecond'),
        cost: ratio(first, own, 'requestsPerSecond'),
        cores: { server: cores('cpuMs'), database: cores('databaseCpuMs'), driver: cores('driverCpuMs') },
      };
    }),
  };
}

function busyCores(msForThousand: number | undefined, requestsPerSecond: number): number | undefined {
  return msForThousand === undefined ? undefined : (msForThousand * requestsPerSecond) / 1e6;
}

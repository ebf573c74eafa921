import type { Flood } from '../load/flood.ts';
import type { OperationName } from '../load/operations.ts';
import type { Floods, Sample, Samples } from '../rounds.ts';
import { type SideName, SIDES } from '../servers/contenders.ts';
import { calmRounds } from './calm-rounds.ts';
import { median } from './median.ts';

type Figure = 'requestsPerSecond' | 'p50' | 'p99' | 'cpuMs';
type Figures = Record<Figure, number | undefined>;

/** Of the ratios of the single rounds: what slows a whole round down slows both sides. */
export interface Ratio {
  median: number | undefined;
  min: number;
  max: number;
}

export interface OperationSummary {
  name: OperationName;
  /** those that were calm enough to count */
  rounds: number;
  figures: Record<SideName, Figures>;
  ratio: Record<Figure, Ratio>;
}

export interface FloodSummary {
  steady: Slowdown;
  saturated: Slowdown;
  loginsPerSecond: number | undefined;
}

export interface Slowdown {
  p99Alone: number | undefined;
  p99Flooded: number | undefined;
  ratio: number | undefined;
}

const FIGURES: readonly Figure[] = ['requestsPerSecond', 'p50', 'p99', 'cpuMs'];

export function summarizeOperation(name: OperationName, all: Samples): OperationSummary {
  const samples = calmRounds(all);
  const figures = (side: SideName): Figures =>
    forEachFigure((figure) => median(samples[side].map((sample) => sample[figure])));
  return {
    name,
    rounds: samples.baseline.length,
    figures: { service: figures('service'), baseline: figures('baseline') },
    ratio: forEachFigure((figure) => ratio(samples, figure)),
  };
}

export function summarizeFloods(floods: Floods): Record<SideName, FloodSummary> {
  const [service, baseline] = SIDES.map((side) => {
    const rounds = floods[side];
    return {
      steady: slowdown(rounds.map(({ steady }) => steady)),
      saturated: slowdown(rounds.map(({ saturated }) => saturated)),
      loginsPerSecond: median(rounds.map(({ logins }) => logins.requestsPerSecond)),
    };
  });
  return { service: service!, baseline: baseline! };
}

function slowdown(rounds: Flood['steady'][]): Slowdown {
  return {
    p99Alone: median(rounds.map(({ alone }) => alone.p99)),
    p99Flooded: median(rounds.map(({ flooded }) => flooded.p99)),
    ratio: median(rounds.map(({ alone, flooded }) => flooded.p99 / alone.p99)),
  };
}

function ratio({ service, baseline }: Samples, figure: Figure): Ratio {
  const ratios = service.flatMap((sample, round) => divide(sample[figure], baseline[round]?.[figure]));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

function divide(a: number | undefined, b: Sample[Figure]): number[] {
  return a === undefined || !b ? [] : [a / b];
}

function forEachFigure<T>(of: (figure: Figure) => T): Record<Figure, T> {
  return Object.fromEntries(FIGURES.map((figure) => [figure, of(figure)])) as Record<Figure, T>;
}

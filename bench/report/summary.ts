import type { Floods } from '../floods.ts';
import type { FloodHalf } from '../load/flood.ts';
import type { OperationName } from '../load/call.ts';
import type { Samples } from '../rounds.ts';
import { type SideName, SIDES } from '../servers/contenders.ts';
import { calmRounds } from './calm-rounds.ts';
import { type Figures, forEachFigure, medians, type Ratio, ratio } from './figures.ts';
import { median } from '../../tooling/median.ts';

const FIGURES = ['requestsPerSecond', 'p50', 'p99', 'cpuMs'] as const;

type ShownFigure = (typeof FIGURES)[number];

export interface OperationSummary {
  name: OperationName;
  /** those that were calm enough to count */
  rounds: number;
  figures: Record<SideName, Figures<ShownFigure>>;
  ratio: Record<ShownFigure, Ratio>;
}

export interface FloodSummary {
  steady: Slowdown;
  saturated: Slowdown;
}

export interface Slowdown {
  p99Alone: number | undefined;
  p99Flooded: number | undefined;
  ratio: number | undefined;
  loginsPerSecond: number | undefined;
}

export function summarizeOperation(name: OperationName, all: Samples<SideName>): OperationSummary {
  const { service, baseline } = calmRounds(all);
  return {
    name,
    rounds: baseline.length,
    figures: { service: medians(service, FIGURES), baseline: medians(baseline, FIGURES) },
    ratio: forEachFigure(FIGURES, (figure) => ratio(service, baseline, figure)),
  };
}

export function summarizeFloods(floods: Floods): Record<SideName, FloodSummary> {
  const [service, baseline] = SIDES.map((side) => {
    const rounds = floods[side];
    return {
      steady: slowdown(rounds.map(({ steady }) => steady)),
      saturated: slowdown(rounds.map(({ saturated }) => saturated)),
    };
  });
  return { service: service!, baseline: baseline! };
}

function slowdown(rounds: FloodHalf[]): Slowdown {
  return {
    p99Alone: median(rounds.map(({ alone }) => alone.p99)),
    p99Flooded: median(rounds.map(({ flooded }) => flooded.p99)),
    ratio: median(rounds.map(({ alone, flooded }) => flooded.p99 / alone.p99)),
    loginsPerSecond: median(rounds.map(({ logins }) => logins.requestsPerSecond)),
  };
}

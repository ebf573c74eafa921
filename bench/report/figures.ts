import type { Sample } from '../rounds.ts';
import { median } from '../../tooling/median.ts';

export type Figure = Exclude<keyof Sample, 'requests' | 'foreignLoad'>;

export type Figures<Of extends Figure> = Record<Of, number | undefined>;

/** Of the ratios of the single rounds: what slows a whole round down slows all contenders. */
export interface Ratio {
  median: number | undefined;
  min: number;
  max: number;
}

export function medians<Of extends Figure>(samples: Sample[], figures: readonly Of[]): Figures<Of> {
  return forEachFigure(figures, (figure) => median(samples.map((sample) => sample[figure])));
}

export function ratio(over: Sample[], under: Sample[], figure: Figure): Ratio {
  const ratios = over.flatMap((sample, round) => divide(sample[figure], under[round]?.[figure]));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

export function forEachFigure<Of extends Figure, T>(
  figures: readonly Of[],
  of: (figure: Of) => T,
): Record<Of, T> {
  return Object.fromEntries(figures.map((figure) => [figure, of(figure)])) as Record<Of, T>;
}

function divide(a: number | undefined, b: number | undefined): number[] {
  return a === undefined || !b ? [] : [a / b];
}

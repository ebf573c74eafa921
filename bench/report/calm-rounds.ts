import type { Samples } from '../rounds.ts';
import { SIDES } from '../servers/contenders.ts';

const TOLERABLE_FOREIGN_LOAD = 0.15;

/**
 * Without the rounds in which other programs took much of the processors on either side; at least the calmer
 * half stays. What is left out is chosen by the disturbance alone, never by the figures.
 */
export function calmRounds(samples: Samples): Samples {
  const rounds = samples.baseline.map((_, round) => ({ round, load: foreignLoad(samples, round) }));
  const byLoad = rounds.toSorted((a, b) => a.load - b.load);
  const half = Math.ceil(rounds.length / 2);
  const calm = byLoad.filter(({ load }, place) => place < half || load <= TOLERABLE_FOREIGN_LOAD);
  const kept = new Set(calm.map(({ round }) => round));
  const keep = <T>(all: T[]): T[] => all.filter((_, round) => kept.has(round));
  return { service: keep(samples.service), baseline: keep(samples.baseline) };
}

function foreignLoad(samples: Samples, round: number): number {
  return Math.max(...SIDES.map((side) => samples[side][round]?.foreignLoad ?? 0));
}

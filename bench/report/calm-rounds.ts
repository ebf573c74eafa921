import type { Sample, Samples } from '../rounds.ts';

const TOLERABLE_FOREIGN_LOAD = 0.15;

/**
 * Drops rounds in which other programs took much of the CPU from any contender; at least the calmer half
 * stays. Chosen by the disturbance alone, never by the figures.
 */
export function calmRounds<Name extends string>(samples: Samples<Name>): Samples<Name> {
  const names = Object.keys(samples) as Name[];
  const load = (round: number): number =>
    Math.max(...names.map((name) => samples[name][round]?.foreignLoad ?? 0));
  const rounds = samples[names[0]!].map((_, round) => ({ round, load: load(round) }));
  const byLoad = rounds.toSorted((a, b) => a.load - b.load);
  const half = Math.ceil(rounds.length / 2);
  const calm = byLoad.filter((one, place) => place < half || one.load <= TOLERABLE_FOREIGN_LOAD);
  const kept = new Set(calm.map(({ round }) => round));
  const keep = (all: Sample[]): Sample[] => all.filter((_, round) => kept.has(round));
  return Object.fromEntries(names.map((name) => [name, keep(samples[name])])) as Samples<Name>;
}

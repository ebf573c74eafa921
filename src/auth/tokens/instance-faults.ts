import { LEEWAY_SECONDS } from './access-token.js';
import type { LiveInstance } from './instances.repository.js';

const ALLOWED_MS = 120_000;
const CLOCK_TOLERANCE_MS = 2000;
/** A slower answer says too little about when the database read its clock. */
const MAX_ROUND_TRIP_MS = 1000;
/** If two clocks are within it, each instance accepts the access tokens of the other. */
const MAX_CLOCK_OFFSET_MS = (LEEWAY_SECONDS * 1000) / 2;

export type OutFor = 'clock' | 'keys';

/**
 * Returns the instances that clients should not reach. All instances compute the same from the same rows. If all would
 * be out, none is: an instance with a fault is better than none.
 */
export function findOut(live: readonly LiveInstance[]): Map<string, OutFor> {
  const out = new Map<string, OutFor>();
  for (const one of live) {
    if (hasWrongClock(one, live)) out.set(one.id, 'clock');
    else if (hasRareKeys(one, live)) out.set(one.id, 'keys');
  }
  return out.size < live.length ? out : new Map();
}

function hasWrongClock({ clockOffset }: LiveInstance, live: readonly LiveInstance[]): boolean {
  return clockOffset !== null && !isNear(clockOffset) && live.some(hasRightClock);
}

/** Its last reading counts, too: if the clock of the database jumps, no instance is right until all have noticed. */
function hasRightClock({ clockOffset, clockReading }: LiveInstance): boolean {
  return clockOffset !== null && clockReading !== null && isNear(clockOffset) && isNear(clockReading);
}

function isNear(offsetMs: number): boolean {
  return Math.abs(offsetMs) <= MAX_CLOCK_OFFSET_MS;
}

function hasRareKeys(one: LiveInstance, live: readonly LiveInstance[]): boolean {
  const groups = Map.groupBy(live, ({ keySet }) => keySet);
  const own = votes(groups.get(one.keySet)!);
  return [...groups.values()].some(
    (group) => votes(group) > own && group.some((other) => rejectTokens(one, other)),
  );
}

/** The workers of one machine have one file, so they count once. */
function votes(instances: readonly LiveInstance[]): number {
  return new Set(instances.map(({ host, pid }) => `${host} ${pid}`)).size;
}

function rejectTokens(one: LiveInstance, other: LiveInstance): boolean {
  return !one.keySet.includes(other.signingKey) || !other.keySet.includes(one.signingKey);
}

/** Returns the milliseconds by which this clock is ahead of the database's, or undefined if the answer took too long. */
export async function measureOffset(findDatabaseTime: () => Promise<number>): Promise<number | undefined> {
  const began = performance.now();
  const databaseTime = await findDatabaseTime();
  const roundTripMs = performance.now() - began;
  if (roundTripMs > MAX_ROUND_TRIP_MS) return undefined;
  return Math.round(Date.now() - roundTripMs / 2 - databaseTime);
}

/**
 * Two readings decide: the offset moves only as far as both require, so a clock that jumps back and forth changes
 * nothing.
 */
export function settledOffset(offset: number, ...readings: [previous: number, last: number]): number {
  return Math.min(Math.max(offset, Math.min(...readings)), Math.max(...readings));
}

export function isClockWrong({ clockOffset }: Pick<LiveInstance, 'clockOffset'>): boolean {
  return clockOffset !== null && Math.abs(clockOffset) > CLOCK_TOLERANCE_MS;
}

export function clockText(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 100) / 10;
  return `${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the database`;
}

/** Returns undefined while all instances have the same keys. */
export function differenceBegan(live: readonly LiveInstance[]): number | undefined {
  if (new Set(live.map(({ keySet }) => keySet)).size <= 1) return undefined;
  return Math.min(...live.map(({ differsSince, now }) => differsSince ?? now));
}

/** Returns the machines and the thumbprints of each key set, or nothing while a rotation may still be under way. */
export function lastingDifference(live: readonly LiveInstance[]): string[] {
  const since = differenceBegan(live);
  if (since === undefined || live[0]!.now - since <= ALLOWED_MS) return [];
  const groups = Map.groupBy(live, ({ keySet }) => keySet);
  return Array.from(groups, ([keySet, instances]) => `${hostsOf(instances).join(', ')}: ${keySet}`);
}

/** Returns instances that share no rate limits with those beside them. A restart leaves two rows for a moment. */
export function instancesThatCountAlone(live: readonly LiveInstance[]): LiveInstance[] {
  const lasting = live.filter(({ startedAt, now }) => now - startedAt > ALLOWED_MS);
  return lasting.length > 1 ? lasting.filter(({ countsAlone }) => countsAlone === 1) : [];
}

export function hostsOf(instances: readonly Pick<LiveInstance, 'host'>[]): string[] {
  return [...new Set(instances.map(({ host }) => host))].toSorted();
}

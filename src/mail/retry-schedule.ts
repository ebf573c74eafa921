const FIRST_PAUSES_MS = [1000, 5000, 30_000, 120_000, 600_000];
const HOUR_MS = 3_600_000;
const MAX_HOURLY = 24;

/** Returns how long to wait after this many failed attempts; undefined to give up. */
export function retryAfterMs(attempts: number): number | undefined {
  const first = FIRST_PAUSES_MS[attempts - 1];
  if (first !== undefined) return first;
  return attempts <= FIRST_PAUSES_MS.length + MAX_HOURLY ? HOUR_MS : undefined;
}

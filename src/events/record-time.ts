import { parseDuration } from '../config/values.js';

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Reads a day (in UTC), a time with its zone, or an age (`30m`, `24h`, `7d`); undefined if it is none of them. */
export function recordTime(text: string, now: number): number | undefined {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return now - seconds * 1000;
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

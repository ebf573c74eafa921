/** Allows `limit` requests in any window of `windowMs` milliseconds. */
export interface RateLimit {
  limit: number;
  windowMs: number;
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3600],
  ['d', 86_400],
]);

/** Converts `60s`, `15m`, `24h` or `30d` to seconds. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^([1-9]\d{0,8})(\w)$/.exec(text) ?? [];
  const seconds = UNIT_SECONDS.get(unit);
  return seconds && Number(amount) * seconds;
}

/** Converts a day (in UTC), a time with its zone, or an age (`30m`, `24h`, `7d`) to epoch milliseconds. */
export function parseTimeOrAge(text: string, now: number): number | undefined {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return now - seconds * 1000;
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

export function parseRateLimit(text: string): RateLimit | undefined {
  const [, limit, window] = /^([1-9]\d{0,3})\/(\w+)$/.exec(text) ?? [];
  const seconds = window && parseDuration(window);
  return limit && seconds ? { limit: Number(limit), windowMs: seconds * 1000 } : undefined;
}

/** Accepts exactly what a browser sends as `Origin`, including custom schemes of desktop web views. */
export function parseExactOrigin(text: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(:\d{1,5})?$/.test(text) ? text : undefined;
}

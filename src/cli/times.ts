import { parseTimeOrAge } from '../config/values.js';
import { CannotRunError } from './cannot-run.error.js';

export function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

export function timeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : timeText(epochMs);
}

/** @throws CannotRunError unless the text is a day (in UTC), a time with its zone, or an age (`30m`, `24h`, `7d`) */
export function parseTime(flag: string, text: string, now = Date.now()): number {
  const time = parseTimeOrAge(text, now);
  if (time !== undefined) return time;
  throw new CannotRunError(
    `${flag}: expected a time such as 2026-11-22 or 2026-11-22T09:30Z, or an age such as 24h`,
  );
}

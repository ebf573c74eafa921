import { setTimeout as sleep } from 'node:timers/promises';
import { conflictRetried } from '../telemetry/metrics/measurements.js';
import { isLostConflict } from './database-errors.js';
import { LostConflictError } from './lost-conflict.error.js';
import { detectUnknownOutcome } from './unknown-outcome.error.js';

// A count alone is used up in a third of a second by conflicts that are lost at once, as at the commits of a cluster;
// a time alone is used up by one wait for a lock. The time leaves a second and a half of the request's deadline.
const MIN_RETRIES = 5;
const RETRY_FOR_MS = 3000;
const INITIAL_BACKOFF_MS = 10;
const MAX_BACKOFF_MS = 160;
const WRITE = /^\s*(?:INSERT|UPDATE|DELETE)\b/i;

/** @throws LostConflictError when every attempt of three seconds lost, and at least six did */
export async function retryLostConflicts<T>(
  work: () => Promise<T>,
  pause: (ms: number) => Promise<void> = sleep,
): Promise<T> {
  const begun = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLostConflict(error)) throw error;
      if (attempt >= MIN_RETRIES && performance.now() - begun >= RETRY_FOR_MS)
        throw new LostConflictError(error);
      conflictRetried.emit();
      await pause(Math.min(INITIAL_BACKOFF_MS * 2 ** attempt, MAX_BACKOFF_MS) * (0.5 + Math.random()));
    }
  }
}

/** @throws LostConflictError, or UnknownOutcomeError when a write was not answered */
export function runAlone<T>(sql: string, send: () => Promise<T>): Promise<T> {
  return retryLostConflicts(WRITE.test(sql) ? () => detectUnknownOutcome(send) : send);
}

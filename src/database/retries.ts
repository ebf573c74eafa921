import { setTimeout as sleep } from 'node:timers/promises';
import { conflictRetried } from '../telemetry/metrics/measurements.js';
import { isLostConflict } from './database-errors.js';
import { LostConflictError } from './lost-conflict.error.js';
import { detectUnknownOutcome } from './unknown-outcome.error.js';

const MAX_RETRIES = 5;
const INITIAL_BACKOFF_MS = 10;
const WRITE = /^\s*(?:INSERT|UPDATE|DELETE)\b/i;

/** @throws LostConflictError when every attempt lost */
export async function retryLostConflicts<T>(
  work: () => Promise<T>,
  pause: (ms: number) => Promise<void> = sleep,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLostConflict(error)) throw error;
      if (attempt === MAX_RETRIES) throw new LostConflictError(error);
      conflictRetried.emit();
      await pause(INITIAL_BACKOFF_MS * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

/** @throws LostConflictError, or UnknownOutcomeError when a write was not answered */
export function runAlone<T>(sql: string, send: () => Promise<T>): Promise<T> {
  return retryLostConflicts(WRITE.test(sql) ? () => detectUnknownOutcome(send) : send);
}

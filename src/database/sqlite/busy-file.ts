import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError } from '../acquire-timeout.js';
import { isFileBusy } from '../database-errors.js';

const POLL_MS = 5;
/** A command takes less. */
const WARN_AFTER_MS = 100;

/**
 * Repeats what found another process writing to the file, such as a command: SQLite itself would make every request
 * wait, as it waits with the whole process.
 *
 * @param work keeps nobody waiting once it has failed
 * @throws an error with code POOL_ACQUIRE_TIMEOUT when that takes too long
 */
export async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  let isWarned = false;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isFileBusy(error)) throw error;
      const waitedMs = performance.now() - began;
      if (waitedMs > ACQUIRE_TIMEOUT_MS) throw acquireTimeoutError();
      if (waitedMs > WARN_AFTER_MS && !isWarned) {
        new Logger('Database').warn('another process keeps the database file locked');
        isWarned = true;
      }
    }
    await sleep(POLL_MS);
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError } from '../acquire-timeout.js';
import { isFileBusy } from '../database-errors.js';

const POLL_MS = 5;

/**
 * Repeats what found another process writing to the file, such as a command: SQLite itself would make every request
 * wait, as it waits with the whole process.
 *
 * @param work keeps nobody waiting once it has failed
 * @throws an error with code POOL_ACQUIRE_TIMEOUT when that takes too long
 */
export async function whenFree<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + ACQUIRE_TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isFileBusy(error)) throw error;
      if (performance.now() > deadline) throw acquireTimeoutError();
    }
    await sleep(POLL_MS);
  }
}

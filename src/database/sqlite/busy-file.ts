import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError } from '../acquire-timeout.js';
import { isFileBusy } from '../database-errors.js';

const POLL_MS = 5;
/** longer than a command takes */
const WARN_AFTER_MS = 100;

// Polls while another process, such as a command, writes to the file: SQLite's own wait would block this process, and
// so every request. `work` must keep nobody waiting once it has failed.
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

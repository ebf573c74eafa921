import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** what libuv calls the threads that hash; they also read files and look up host names */
const THREAD_NAME = 'libuv-worker';

const THREADS = '/proc/self/task';

/**
 * Lets the thread that answers requests go before those that hash, so that a login flood makes no other route
 * wait for a core. The threads must have been started, which the first hash does. Does nothing where threads
 * have no priority of their own, as anywhere but on Linux.
 */
export function lowerHashThreadPriority(): void {
  try {
    for (const id of readdirSync(THREADS)) {
      if (readFileSync(`${THREADS}/${id}/comm`, 'utf8').trim() === THREAD_NAME) {
        setPriority(Number(id), constants.priority.PRIORITY_LOW);
      }
    }
  } catch {
    return;
  }
}

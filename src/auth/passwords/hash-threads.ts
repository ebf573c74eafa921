import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** libuv's name for the threads that hash; they also read files and resolve host names */
const THREAD_NAME = 'libuv-worker';

const THREADS = '/proc/self/task';

/**
 * Keeps a login flood from slowing other routes. The threads must run already, which the first hash ensures.
 * No effect outside Linux.
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

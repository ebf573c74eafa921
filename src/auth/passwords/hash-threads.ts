import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** libuv gives this name to the threads that hash; they also read files and resolve host names. */
const THREAD_NAME = 'libuv-worker';

const THREADS = '/proc/self/task';

/** A login flood must not slow other routes. Call this after the first hash; it has no effect outside Linux. */
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

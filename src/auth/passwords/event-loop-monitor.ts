import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** Shorter samples measure chance, not load. */
const SAMPLE_MS = 50;

/** Logins alone use a third of the loop's time, other routes at their limit three quarters. */
const SATURATION_THRESHOLD = 0.6;

export class EventLoopMonitor {
  private since: EventLoopUtilization = performance.eventLoopUtilization();
  private sinceTime = performance.now();
  private saturated = false;

  isSaturated(): boolean {
    const time = performance.now();
    if (time - this.sinceTime >= SAMPLE_MS) {
      const now = performance.eventLoopUtilization();
      this.saturated = performance.eventLoopUtilization(now, this.since).utilization >= SATURATION_THRESHOLD;
      this.since = now;
      this.sinceTime = time;
    }
    return this.saturated;
  }
}

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

import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { type Env, workersFor } from '../../config/env.js';

/** libuv's thread pool has 4 threads by default: further hashes would only queue inside it. */
const THREAD_POOL_SIZE = 4;

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

interface HashSlots {
  /** the most hashes that run at once */
  slots: number;
  current: () => number;
}

export function hashSlots(env: Env): HashSlots {
  // Processes share the cores: more hashes at once give no more logins and slow other routes.
  const cores = Math.max(1, Math.floor(availableParallelism() / workersFor(env).workers));
  const slots = Math.min(cores, THREAD_POOL_SIZE);
  // A saturated event loop needs a core for itself: one more hash would only take time from it.
  const slotsBesideBusyLoop = Math.max(1, Math.min(cores - 1, THREAD_POOL_SIZE));
  const loop = new EventLoopMonitor();
  return { slots, current: () => (loop.isSaturated() ? slotsBesideBusyLoop : slots) };
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

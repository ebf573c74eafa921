import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** Shorter spans measure chance, not load. */
const SPAN_MS = 50;

/** Logins alone use a third of the loop's time, other routes at their limit three quarters. */
const BUSY = 0.6;

/** Tells whether the event loop used most of a core since the last call. */
export class EventLoopMonitor {
  private since: EventLoopUtilization = performance.eventLoopUtilization();
  private sinceTime = performance.now();
  private busy = false;

  isSaturated(): boolean {
    const time = performance.now();
    if (time - this.sinceTime >= SPAN_MS) {
      const now = performance.eventLoopUtilization();
      this.busy = performance.eventLoopUtilization(now, this.since).utilization >= BUSY;
      this.since = now;
      this.sinceTime = time;
    }
    return this.busy;
  }
}

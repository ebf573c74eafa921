import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** Shorter spans tell more of chance than of load. */
const SPAN_MS = 50;

/** Logins alone keep the loop at work for a third of the time, other routes at their limit for three quarters. */
const BUSY = 0.6;

/** Tells whether the thread that answers requests has needed most of a core since it was asked before. */
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

import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** Shorter spans tell more of chance than of load. */
const SPAN_MS = 50;

/** Logins alone keep the loop at work for a third of the time, other routes at their limit for three quarters. */
const BUSY = 0.6;

/** Tells whether the thread that answers requests has needed most of a core since it was asked before. */
export class EventLoopLoad {
  private since: EventLoopUtilization = performance.eventLoopUtilization();
  private busy = false;

  isBusy(): boolean {
    const now = performance.eventLoopUtilization();
    const { idle, active, utilization } = performance.eventLoopUtilization(now, this.since);
    if (idle + active >= SPAN_MS) {
      this.since = now;
      this.busy = utilization >= BUSY;
    }
    return this.busy;
  }
}

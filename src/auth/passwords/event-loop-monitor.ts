import { type EventLoopUtilization, performance } from 'node:perf_hooks';

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

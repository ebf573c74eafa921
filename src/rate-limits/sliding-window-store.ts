import type { Admission, Counter, RateLimitStore } from './rate-limit-store.js';
import { SlidingWindow } from './sliding-window.js';

export class SlidingWindowStore implements RateLimitStore {
  readonly degraded = false;
  private readonly windows = new Map<string, SlidingWindow>();

  /** @param now milliseconds of a monotonic clock */
  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly capacity?: number,
  ) {}

  async admit(counters: readonly Counter[]): Promise<Admission> {
    const time = this.now();
    const quotas = counters.map((counter) => this.windowOf(counter).quota(counter.key, time));
    if (quotas.some(({ remaining }) => remaining === 0)) {
      return { admitted: false, quotas, giveBack: () => Promise.resolve() };
    }
    return {
      admitted: true,
      quotas: counters.map((counter) => this.windowOf(counter).add(counter.key, time)),
      giveBack: async (uncounted = counters) => {
        for (const counter of uncounted) this.windowOf(counter).remove(counter.key, time);
      },
    };
  }

  close(): void {}

  private windowOf({ name, limit, windowMs }: Counter): SlidingWindow {
    let window = this.windows.get(name);
    if (!window) {
      window = new SlidingWindow({ limit, windowMs }, this.capacity);
      this.windows.set(name, window);
    }
    return window;
  }
}

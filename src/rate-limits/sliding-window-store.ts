import type { Admission, Counter, Lift, RateLimitStore } from './rate-limit-store.js';
import { SlidingWindow } from './sliding-window.js';

export class SlidingWindowStore implements RateLimitStore {
  readonly degraded = false;
  private readonly windows = new Map<string, SlidingWindow>();
  /** Times of `now`, oldest first. */
  private readonly lifted = new Map<string, { at: number; windowMs: number }>();

  /** @param now milliseconds of a monotonic clock */
  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly capacity?: number,
  ) {}

  async admit(counters: readonly Counter[]): Promise<Admission> {
    const time = this.now();
    const quotas = counters.map((counter) =>
      this.windowOf(counter).quota(counter.key, time, this.liftedAt(counter)),
    );
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

  async lift(key: string, { agoMs, windowMs }: Lift): Promise<void> {
    const now = this.now();
    this.lifted.delete(key);
    this.lifted.set(key, { at: now - agoMs, windowMs });
    for (const [old, one] of this.lifted) {
      if (now - one.at < one.windowMs) break;
      this.lifted.delete(old);
    }
  }

  close(): void {}

  private liftedAt({ liftKey }: Counter): number | undefined {
    return liftKey === undefined ? undefined : this.lifted.get(liftKey)?.at;
  }

  private windowOf({ name, limit, windowMs }: Counter): SlidingWindow {
    let window = this.windows.get(name);
    if (!window) {
      window = new SlidingWindow({ limit, windowMs }, this.capacity);
      this.windows.set(name, window);
    }
    return window;
  }
}

import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Admission, Counter, Lift, RateLimitStore } from './rate-limit-store.js';

const ANSWER_TIMEOUT_MS = 250;
const PROBE_PERIOD_MS = 1000;
const PROBE_RULE = { name: 'probe', limit: 1, windowMs: 1000 };

// Counts in this instance while Redis fails or is slow. A probe runs the same step as a request each second, and
// switches back.
export class FallbackStore implements RateLimitStore {
  degraded = false;
  private readonly logger = new Logger('RateLimits');
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly shared: RateLimitStore,
    private readonly own: RateLimitStore,
  ) {
    this.timer = setInterval(() => void this.probe(), PROBE_PERIOD_MS).unref();
  }

  async admit(counters: readonly Counter[]): Promise<Admission> {
    if (!this.degraded) {
      try {
        const { giveBack, ...admission } = await withTimeout(this.shared.admit(counters));
        return {
          ...admission,
          // If this fails, the request stays counted: the limit errs on the strict side.
          giveBack: (uncounted) =>
            withTimeout(giveBack(uncounted)).catch((error: unknown) => this.degrade(error)),
        };
      } catch (error) {
        this.degrade(error);
      }
    }
    return this.own.admit(counters);
  }

  /** Rejects while Redis does not answer, so that it is told later. */
  async lift(key: string, lift: Lift): Promise<void> {
    await this.own.lift(key, lift);
    await withTimeout(this.shared.lift(key, lift)).catch((error: unknown) => {
      this.degrade(error);
      throw error;
    });
  }

  close(): void {
    clearInterval(this.timer);
    this.shared.close();
    this.own.close();
  }

  private degrade(err: unknown): void {
    if (this.degraded) return;
    this.degraded = true;
    this.logger.warn({ msg: 'Redis does not answer: this instance counts by itself until it does', err });
  }

  private async probe(): Promise<void> {
    try {
      await withTimeout(this.shared.admit([{ ...PROBE_RULE, key: `probe:${randomUUID()}` }]));
    } catch (error) {
      this.degrade(error);
      return;
    }
    if (this.degraded) this.logger.log('Redis answers again: limits are shared');
    this.degraded = false;
  }
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refuse = (): void => reject(new Error('no answer in time'));
    // After the event loop was blocked, an answer that has arrived is read before the timeout counts.
    timer = setTimeout(() => setImmediate(refuse), ANSWER_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Admission, Counter, Lift, RateLimitStore } from './rate-limit-store.js';

const ANSWER_TIMEOUT_MS = 250;
const PROBE_PERIOD_MS = 1000;
/** lets readiness tell within ten seconds that Redis is gone, even if no request asks it */
const LOOK_PERIOD_MS = 5000;
const PROBE_RULE = { name: 'probe', limit: 1, windowMs: 1000 };

// Falls back to the instance's own windows while the shared ones fail or are slow. The probe that switches back runs
// the same step, so that a server which answers but cannot write stays out.
export class FallbackStore implements RateLimitStore {
  private readonly logger = new Logger('RateLimits');
  private probe: NodeJS.Timeout | undefined;
  private readonly firstProbe: NodeJS.Timeout;
  private readonly looks: NodeJS.Timeout;

  constructor(
    private readonly shared: RateLimitStore,
    private readonly own: RateLimitStore,
  ) {
    // A start without Redis is logged before the first request meets it.
    this.firstProbe = setTimeout(() => void this.probeNow(), PROBE_PERIOD_MS).unref();
    this.looks = setInterval(() => void this.probeNow(), LOOK_PERIOD_MS).unref();
  }

  get degraded(): boolean {
    return this.probe !== undefined;
  }

  async admit(counters: readonly Counter[]): Promise<Admission> {
    if (!this.degraded) {
      try {
        const admission = await withTimeout(this.shared.admit(counters));
        return { ...admission, giveBack: (uncounted) => this.giveBackShared(admission, uncounted) };
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
    clearTimeout(this.firstProbe);
    clearInterval(this.looks);
    clearInterval(this.probe);
    this.shared.close();
    this.own.close();
  }

  private degrade(error: unknown): void {
    if (this.degraded) return;
    this.logger.warn({
      msg: 'Redis does not answer: this instance counts by itself until it does',
      err: error,
    });
    this.probe = setInterval(() => void this.tryShared(), PROBE_PERIOD_MS);
    this.probe.unref();
  }

  /** If this fails, the request stays counted: the limit errs on the strict side. */
  private async giveBackShared(
    { giveBack }: Admission,
    uncounted: readonly Counter[] | undefined,
  ): Promise<void> {
    await withTimeout(giveBack(uncounted)).catch((error: unknown) => this.degrade(error));
  }

  private async probeNow(): Promise<void> {
    if (this.degraded) return;
    await this.askShared().catch((error: unknown) => this.degrade(error));
  }

  private askShared(): Promise<Admission> {
    return withTimeout(this.shared.admit([{ ...PROBE_RULE, key: `probe:${randomUUID()}` }]));
  }

  private async tryShared(): Promise<void> {
    try {
      await this.askShared();
    } catch {
      return;
    }
    clearInterval(this.probe);
    this.probe = undefined;
    this.logger.log('Redis answers again: limits are shared');
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

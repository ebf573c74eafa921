import { randomUUID } from 'node:crypto';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Admission, Counter, Lift, Quota, RateLimitStore } from './rate-limit-store.js';
import type { RedisWindowStore } from './redis-window-store.js';

const ANSWER_TIMEOUT_MS = 250;
const PROBE_PERIOD_MS = 1000;
const PROBE_RULE = { name: 'probe', limit: 1, windowMs: 1000 };
const MAX_UNEXPLAINED_PROBES = 5;

/** Counts in this instance while Redis fails or is slow, until a probe succeeds. */
export class FallbackStore implements RateLimitStore, OnApplicationShutdown {
  degraded = false;
  private reported = false;
  private failedProbes = 0;
  private readonly logger = new Logger('RateLimits');
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly shared: Pick<RedisWindowStore, 'admit' | 'look' | 'lift' | 'close' | 'isConnecting'>,
    private readonly own: RateLimitStore,
  ) {
    this.timer = setInterval(() => void this.probe(), PROBE_PERIOD_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
    this.shared.close();
  }

  async admit(counters: readonly Counter[]): Promise<Admission> {
    if (this.degraded) return this.own.admit(counters);
    try {
      const { giveBack, ...admission } = await this.answerOf(this.shared.admit(counters));
      // If this fails, the request stays counted.
      return { ...admission, giveBack: (some) => this.answerOf(giveBack(some)).catch(() => undefined) };
    } catch {
      return this.own.admit(counters);
    }
  }

  async look(counters: readonly Counter[]): Promise<Quota[]> {
    if (this.degraded) return this.own.look(counters);
    return this.answerOf(this.shared.look(counters)).catch(() => this.own.look(counters));
  }

  /** Throws while Redis does not answer, so that LiftedLimits tries again later. */
  async lift(key: string, lift: Lift): Promise<void> {
    await this.own.lift(key, lift);
    await this.answerOf(this.shared.lift(key, lift));
  }

  private async probe(): Promise<void> {
    const key = `probe:${randomUUID()}`;
    const answer = this.answerOf(this.shared.admit([{ ...PROBE_RULE, key }]));
    const answered = await answer.catch(() => undefined);
    this.failedProbes = answered ? 0 : this.failedProbes + 1;
    if (!answered) return;
    if (this.reported) this.logger.log('Redis answers again: limits are shared');
    this.degraded = this.reported = false;
  }

  /** Waits for the reason, which an attempt to connect gives when it fails, but not for ever. */
  private report(err: unknown): void {
    if (this.reported || (this.shared.isConnecting && this.failedProbes < MAX_UNEXPLAINED_PROBES)) return;
    this.logger.warn({ msg: 'Redis does not answer: this instance counts by itself until it does', err });
    this.reported = true;
  }

  private async answerOf<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const refuse = (): void => reject(new Error('no answer in time'));
      // After a blocked event loop, Node reads an answer that has arrived before this timeout counts.
      timer = setTimeout(() => setImmediate(refuse), ANSWER_TIMEOUT_MS);
    });
    try {
      return await Promise.race([work, late]);
    } catch (err) {
      this.degraded = true;
      this.report(err);
      throw err;
    } finally {
      clearTimeout(timer);
    }
  }
}

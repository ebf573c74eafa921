import type { ThrottlerStorage } from '@nestjs/throttler';
import { secondsOf } from './rate-limit-headers.js';
import type { RateLimitStore } from './rate-limit-store.js';

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Adapts to @nestjs/throttler, whose times are whole seconds: they are rounded up, so that waits suffice. */
export class RateLimitStorage implements ThrottlerStorage {
  constructor(private readonly store: Pick<RateLimitStore, 'admit'>) {}

  /** `ttl` is in milliseconds. A sliding log has no block duration. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    name: string,
  ): Promise<ThrottlerStorageRecord> {
    const { admitted, quotas } = await this.store.admit([{ name, key, limit, windowMs: ttl }]);
    const { remaining, resetMs } = quotas[0]!;
    const seconds = secondsOf(resetMs);
    return {
      totalHits: admitted ? limit - remaining : limit + 1,
      timeToExpire: seconds,
      isBlocked: !admitted,
      timeToBlockExpire: admitted ? 0 : seconds,
    };
  }
}

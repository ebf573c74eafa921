import type { ThrottlerStorage } from '@nestjs/throttler';
import type { RateLimitStore } from './rate-limit-store.js';

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Shows a {@link RateLimitStore} to @nestjs/throttler, whose times are whole seconds: rounded up, so that they suffice. */
export class RateLimitStorage implements ThrottlerStorage {
  constructor(private readonly store: Pick<RateLimitStore, 'admit'>) {}

  /** `ttl` is in milliseconds. A sliding log has no block duration of its own. */
  async increment(key: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    const { admitted, remaining, resetMs } = await this.store.admit(key, { limit, windowMs: ttl });
    const seconds = Math.max(1, Math.ceil(resetMs / 1000));
    return {
      totalHits: admitted ? limit - remaining : limit + 1,
      timeToExpire: seconds,
      isBlocked: !admitted,
      timeToBlockExpire: admitted ? 0 : seconds,
    };
  }
}

import { Global, Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Env } from '../config/env.js';
import { FailedLogins, HeldLimits, KnownAddresses, LiftedLimits } from './login-limits.js';
import { LiftedLimit, LiftedLimitsRepository } from './lifted-limits.repository.js';
import { WriteLimitGuard } from './rate-limit.guard.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { FallbackStore } from './fallback-store.js';
import { SlidingWindowStore } from './sliding-window-store.js';

@Global()
@Module({
  imports: [
    TypeOrmModule.forFeature([LiftedLimit]),
    // RateLimitGuard finds the limits of a route itself.
    ThrottlerModule.forRoot([{ limit: 0, ttl: 0 }]),
  ],
  providers: [
    { provide: RATE_LIMIT_STORE, inject: [Env], useFactory: createStore },
    FailedLogins,
    HeldLimits,
    KnownAddresses,
    LiftedLimits,
    LiftedLimitsRepository,
    WriteLimitGuard,
  ],
  exports: [
    RATE_LIMIT_STORE,
    FailedLogins,
    HeldLimits,
    KnownAddresses,
    LiftedLimits,
    LiftedLimitsRepository,
    ThrottlerModule,
    WriteLimitGuard,
  ],
})
export class RateLimitsModule {}

async function createStore(env: Env): Promise<RateLimitStore> {
  const own = new SlidingWindowStore();
  if (env.redisUrl === undefined) return own;
  const { RedisWindowStore } = await import('./redis-window-store.js');
  return new FallbackStore(new RedisWindowStore(env.redisUrl, env.redisCa), own);
}

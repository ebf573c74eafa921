import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../config/env.js';
import { FallbackStore } from './fallback-store.js';
import { rateLimitRules } from './rate-limit-rules.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { RedisWindowStore } from './redis-window.js';
import { SlidingWindowStore } from './sliding-window.js';

function createStore(env: Env): RateLimitStore {
  const own = new SlidingWindowStore(Math.max(1, ...rateLimitRules(env).map((rule) => rule.limit)));
  return env.redisUrl === undefined ? own : new FallbackStore(new RedisWindowStore(env.redisUrl), own);
}

/** The one place that chooses where requests are counted. */
@Module({
  providers: [{ provide: RATE_LIMIT_STORE, inject: [Env], useFactory: createStore }],
  exports: [RATE_LIMIT_STORE],
})
export class RateLimitStoreModule implements OnApplicationShutdown {
  constructor(@Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore) {}

  onApplicationShutdown(): void {
    this.store.close();
  }
}

import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Env } from '../config/env.js';
import { FallbackStore } from './fallback-store.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { SlidingWindowStore } from './sliding-window-store.js';

async function createStore(env: Env): Promise<RateLimitStore> {
  const own = new SlidingWindowStore();
  if (env.redisUrl === undefined) return own;
  // Loads the client only where Redis is used: it takes memory and time at start.
  const { RedisWindowStore } = await import('./redis-window.js');
  return new FallbackStore(new RedisWindowStore(env.redisUrl, env.redisCa), own);
}

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

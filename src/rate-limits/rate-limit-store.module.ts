import { Module } from '@nestjs/common';
import { Env } from '../config/env.js';
import { rateLimitRules } from './rate-limit-rules.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { SlidingWindowStore } from './sliding-window.js';

/** The one place that chooses where requests are counted. */
@Module({
  providers: [
    {
      provide: RATE_LIMIT_STORE,
      inject: [Env],
      useFactory: (env: Env): RateLimitStore =>
        new SlidingWindowStore(Math.max(1, ...rateLimitRules(env).map((rule) => rule.limit))),
    },
  ],
  exports: [RATE_LIMIT_STORE],
})
export class RateLimitStoreModule {}

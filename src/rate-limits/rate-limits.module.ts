import { Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { Env } from '../config/env.js';
import { RecordModule } from '../record/record.module.js';
import { UsersModule } from '../users/users.module.js';
import { KnownAddresses } from './known-addresses.js';
import { activeLimits } from './rate-limit-rules.js';
import { RateLimitStorage } from './rate-limit-storage.js';
import { RATE_LIMIT_STORE, type RateLimitStore } from './rate-limit-store.js';
import { RateLimitStoreModule } from './rate-limit-store.module.js';
import { WriteLimitGuard } from './write-limit.guard.js';

/** Import it into each module with a `@RateLimited` handler. */
@Module({
  imports: [
    RecordModule,
    UsersModule,
    RateLimitStoreModule,
    ThrottlerModule.forRootAsync({
      imports: [RateLimitStoreModule],
      inject: [Env, RATE_LIMIT_STORE],
      useFactory: (env: Env, store: RateLimitStore): ThrottlerModuleOptions => ({
        throttlers: activeLimits(env).map(([name, { limit, windowMs }]) => ({ name, limit, ttl: windowMs })),
        storage: new RateLimitStorage(store),
      }),
    }),
  ],
  providers: [KnownAddresses, WriteLimitGuard],
  exports: [KnownAddresses, RateLimitStoreModule, ThrottlerModule, WriteLimitGuard],
})
export class RateLimitsModule {}

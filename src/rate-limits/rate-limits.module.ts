import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { EventsModule } from '../events/events.module.js';
import { UsersModule } from '../users/users.module.js';
import { KnownAddresses } from './known-addresses.js';
import { RateLimitStoreModule } from './rate-limit-store.module.js';
import { WriteLimitGuard } from './write-limit.guard.js';

/** RateLimitGuard finds the limits of a route, so the numbers here limit nothing. */
const ONE_FOR_ALL_LIMITS = { limit: 0, ttl: 0 };

/** Import it into each module with a `@RateLimited` handler. */
@Module({
  imports: [EventsModule, UsersModule, RateLimitStoreModule, ThrottlerModule.forRoot([ONE_FOR_ALL_LIMITS])],
  providers: [KnownAddresses, WriteLimitGuard],
  exports: [KnownAddresses, RateLimitStoreModule, ThrottlerModule, WriteLimitGuard],
})
export class RateLimitsModule {}

import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { UsersModule } from '../users/users.module.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { FailedLogins } from './failed-logins.js';
import { KnownAddresses } from './known-addresses.js';
import { LiftedLimit } from './lifted-limits/lifted-limit.entity.js';
import { LiftedLimits } from './lifted-limits/lifted-limits.js';
import { LiftedLimitsRepository } from './lifted-limits/lifted-limits.repository.js';
import { RateLimitStoreModule } from './rate-limit-store.module.js';
import { WriteLimitGuard } from './write-limit.guard.js';

/** RateLimitGuard finds the limits of a route, so the numbers here limit nothing. */
const ONE_FOR_ALL_LIMITS = { limit: 0, ttl: 0 };

/** Import it into each module with a `@RateLimited` handler. */
@Module({
  imports: [
    JobsModule,
    TypeOrmModule.forFeature([LiftedLimit]),
    EventsModule,
    UsersModule,
    RateLimitStoreModule,
    ThrottlerModule.forRoot([ONE_FOR_ALL_LIMITS]),
  ],
  providers: [FailedLogins, KnownAddresses, LiftedLimits, LiftedLimitsRepository, WriteLimitGuard],
  exports: [
    FailedLogins,
    KnownAddresses,
    LiftedLimits,
    RateLimitStoreModule,
    ThrottlerModule,
    WriteLimitGuard,
  ],
})
export class RateLimitsModule {}

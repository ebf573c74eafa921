import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AccountMailsModule } from './accounts/account-mails.module.js';
import { OwnAccountModule } from './accounts/own-account.module.js';
import { AuditModule } from './audit/audit.module.js';
import { AuthModule } from './auth/auth.module.js';
import { JwtAuthGuard } from './auth/tokens/jwt-auth.guard.js';
import type { KeyRing } from './auth/tokens/key-ring.js';
import { ConfigModule } from './config/config.module.js';
import type { Env } from './config/env.js';
import { DatabaseModule } from './database/database.module.js';
import { HealthModule } from './health/health.module.js';
import { InvitationsModule } from './invitations/invitations.module.js';
import { MeModule } from './me/me.module.js';
import { MembersModule } from './members/members.module.js';
import { MembershipsModule } from './memberships/memberships.module.js';
import { RolesGuard } from './memberships/roles.guard.js';
import { OrgsModule } from './orgs/orgs.module.js';
import { ProblemFilter } from './http/problem.filter.js';
import { SCHEMA } from './app/schema.js';
import { RefusalsFilter } from './memberships/refusals.filter.js';
import { RateLimitsModule } from './rate-limits/rate-limits.module.js';
import { WriteLimitGuard } from './rate-limits/write-limit.guard.js';
import { UsersModule } from './users/users.module.js';
import { CareGuard } from './writes/care.guard.js';
import { EarlyAnswerFilter } from './writes/early-answer.js';
import { ReplayGuard } from './writes/replay.guard.js';
import { WritesModule } from './writes/writes.module.js';

@Module({})
export class AppModule {
  static forRoot(env: Env, keys: KeyRing): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(env),
        DatabaseModule.forRoot(SCHEMA),
        AuthModule.forRoot(keys),
        UsersModule,
        OrgsModule,
        MembersModule,
        MembershipsModule,
        MeModule,
        InvitationsModule,
        AccountMailsModule,
        OwnAccountModule,
        AuditModule,
        HealthModule,
        RateLimitsModule,
        WritesModule,
      ],
      providers: [
        // In this order: authentication, write limit, repeated requests, authorization, options of the change.
        { provide: APP_GUARD, useExisting: JwtAuthGuard },
        { provide: APP_GUARD, useExisting: WriteLimitGuard },
        { provide: APP_GUARD, useExisting: ReplayGuard },
        { provide: APP_GUARD, useExisting: RolesGuard },
        { provide: APP_GUARD, useExisting: CareGuard },
        // The last filter that takes an error gets it.
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_FILTER, useClass: RefusalsFilter },
        { provide: APP_FILTER, useClass: EarlyAnswerFilter },
      ],
    };
  }
}

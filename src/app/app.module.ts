import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { ApiKeyRoutesModule } from '../api-keys/api-key-routes.module.js';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { AuthenticationGuard } from '../auth/authentication.guard.js';
import type { KeyRing } from '../auth/tokens/signing-keys.js';
import { TokensModule } from '../auth/tokens/tokens.module.js';
import { ConfigModule } from '../config/config.module.js';
import type { Env } from '../config/env.js';
import { DatabaseModule } from '../database/database.module.js';
import { FeedController, OrgEventsController } from '../events/events.controller.js';
import { HealthModule } from '../health/health.module.js';
import { IntrospectionModule } from '../introspection/introspection.module.js';
import { InvitationsModule } from '../orgs/invitations/invitations.module.js';
import { CleanUpModule } from '../clean-up/clean-up.module.js';
import { MeModule } from '../me/me.module.js';
import { MembersModule } from '../orgs/members/members.module.js';
import { RolesGuard } from '../orgs/members/roles.guard.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { OperatorsModule } from '../operators/operators.module.js';
import { ProblemFilter } from '../http/problem.filter.js';
import { RepeatedWork } from './repeated-work.js';
import { SCHEMA } from './schema.js';
import { RefusalsFilter } from '../orgs/members/refusals.filter.js';
import { WriteLimitGuard } from '../rate-limits/rate-limit.guard.js';
import { MailDeliveryModule } from '../mail-delivery/mail-delivery.module.js';
import { ShortCircuitResponseFilter } from '../requests/write.js';
import { WriteControlsGuard } from '../requests/write-controls.js';
import { ReplayGuard } from '../requests/writes.js';

@Module({})
export class AppModule {
  static forRoot(env: Env, keys: KeyRing): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(env),
        DatabaseModule.forRoot(SCHEMA),
        CleanUpModule,
        TokensModule.forRoot(keys),
        AuthModule,
        MailDeliveryModule,
        OrgsModule,
        MembersModule,
        ApiKeyRoutesModule,
        ApiKeysModule,
        MeModule,
        InvitationsModule,
        IntrospectionModule,
        HealthModule,
        ...(env.operatorsApi ? [OperatorsModule] : []),
      ],
      // Listed here, so that CLI commands load EventsModule without @nestjs/swagger and class-validator.
      controllers: [OrgEventsController, FeedController],
      providers: [
        RepeatedWork,
        // The order of guards matters.
        { provide: APP_GUARD, useExisting: AuthenticationGuard },
        { provide: APP_GUARD, useExisting: WriteLimitGuard },
        { provide: APP_GUARD, useExisting: ReplayGuard },
        { provide: APP_GUARD, useExisting: RolesGuard },
        { provide: APP_GUARD, useExisting: WriteControlsGuard },
        // Nest tries the last filter first.
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_FILTER, useClass: RefusalsFilter },
        { provide: APP_FILTER, useClass: ShortCircuitResponseFilter },
      ],
    };
  }
}

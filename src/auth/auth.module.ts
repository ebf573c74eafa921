import { Global, Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { EventsModule } from '../events/events.module.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { MailModule } from '../mail/mail.module.js';
import { InvitationsModule } from '../orgs/invitations/invitations.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { ServicesModule } from '../services/services.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { AuthenticationGuard, LiveTokens } from './authentication.guard.js';
import { EmailCodesModule } from './email-codes/email-codes.module.js';
import { LoginsModule } from './logins/logins.module.js';
import { PasswordChangeService } from './password-change.service.js';
import { AcceptablePassword } from './passwords/password.decorators.js';
import { PasswordsModule } from './passwords/passwords.module.js';
import { ProviderLoginFinish } from './providers/provider-login-finish.js';
import { ProviderLoginsController } from './providers/provider-logins.controller.js';
import { ProviderLoginsService } from './providers/provider-logins.service.js';
import { ProvidersModule } from './providers/providers.module.js';
import { SecondFactorModule } from './second-factor/second-factor.module.js';
import { CodesService, UnusedCodesLimit } from './sessions/codes.service.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SessionsService } from './sessions/sessions.service.js';

/** Imports the global modules of the folders below. `CliModule` imports those that commands need. */
@Global()
@Module({
  imports: [
    ApiKeysModule,
    InvitationsModule,
    EmailCodesModule,
    EventsModule,
    LoginsModule,
    MailModule,
    OrgStateModule,
    PasswordsModule,
    ProvidersModule,
    RateLimitsModule,
    RequestsModule,
    SecondFactorModule,
    ServicesModule,
    SessionsModule,
    UsersModule,
  ],
  controllers: [AuthController, ProviderLoginsController],
  providers: [
    AcceptablePassword,
    AuthService,
    AuthenticationGuard,
    CodesService,
    UnusedCodesLimit,
    LiveTokens,
    PasswordChangeService,
    ProviderLoginFinish,
    ProviderLoginsService,
    SessionsService,
  ],
  exports: [AuthenticationGuard, LiveTokens, LoginsModule, PasswordChangeService, SessionsService],
})
export class AuthModule {}

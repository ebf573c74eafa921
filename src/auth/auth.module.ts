import { type DynamicModule, Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { MailModule } from '../mail/mail.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { ServicesModule } from '../services/services.module.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { AuthenticationGuard } from './authentication.guard.js';
import { LiveTokens } from './live-tokens.js';
import { AuthorizationCode, PendingRevocation, Session } from './sessions/session.entity.js';
import { AuthorizationCodesRepository } from './sessions/authorization-codes.repository.js';
import { CodesService } from './sessions/codes.service.js';
import { UnusedCodesLimit } from './sessions/unused-codes-limit.js';
import { DiscoveryController } from './tokens/discovery.controller.js';
import { EmailCode } from './email-codes/email-code.entity.js';
import { VouchedEmails } from '../accounts/vouched-emails.js';
import { EmailCodes } from './email-codes/email-codes.js';
import { OldEmailCodes } from './email-codes/old-email-codes.js';
import { EmailProofs } from '../accounts/email-proofs.js';
import { EmailCodesOfUser } from './email-codes/email-codes-of-user.js';
import { EmailCodesRepository } from './email-codes/email-codes.repository.js';
import { PasswordRecoveryController } from '../me/password-recovery.controller.js';
import { PasswordRecoveryService } from '../accounts/password-reset.js';
import { HandedOutResetCodes } from '../accounts/reset-codes.js';
import { JobsModule } from '../clean-up/jobs.module.js';
import { PasswordsModule } from './passwords/passwords.module.js';
import { PasswordChanges } from './passwords/password-changes.js';
import { OwnPasswordService } from './passwords/own-password.service.js';
import { PasswordChangeService } from './passwords/password-change.service.js';
import { LoginChallenges } from './second-factor/login-challenges.js';
import { OwnerProofs } from './second-factor/owner-proofs.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { AllSessionsService } from './sessions/all-sessions.service.js';
import { SessionEndingService } from './sessions/session-ending.service.js';
import { UserSessionsRepository } from './sessions/user-sessions.repository.js';
import { EndedSessionsRepository } from './sessions/ended-sessions.repository.js';
import { LiveSessionsLimit } from './sessions/live-sessions-limit.js';
import { EndedSessions, ExpiredSessions } from './sessions/sessions-clean-up.js';
import { SessionDeletion, SessionsOfUser } from './sessions/sessions-of-user.js';
import { SessionOpening } from './sessions/session-opening.service.js';
import { RefreshService } from './sessions/refresh.service.js';
import { RefreshTokens, SessionTokens } from './sessions/session-tokens.js';
import { PendingRevocationsRepository } from './sessions/pending-revocations.repository.js';
import { OwnSecondFactorService } from './second-factor/own-second-factor.service.js';
import { SecondFactorEnrollment } from './second-factor/second-factor-enrollment.js';
import { SecondFactorRemoval } from './second-factor/second-factor-removal.js';
import { SecondFactorRowsModule } from './second-factor/second-factor-rows.module.js';
import { SecondFactorVerification } from './second-factor/second-factor-verification.js';
import { SessionRevocation } from './sessions/session-revocation.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { JwtStrategy } from './tokens/jwt.strategy.js';
import { KeyFileWatch } from './tokens/key-file-watch.js';
import { KeyRing } from './tokens/signing-keys.js';
import { TokenIssuer } from './tokens/token-issuer.js';
import { VerifiedTokens } from './tokens/access-token.js';
import { SecondStepController } from './second-step.controller.js';
import { SecondStepService } from './second-step.service.js';
import { TotpSecrets } from './second-factor/totp.js';

@Module({
  imports: [
    JobsModule,
    TypeOrmModule.forFeature([Session, AuthorizationCode, PendingRevocation, EmailCode]),
    JwtModule.register({}),
    PassportModule,
    PasswordsModule,
    RateLimitsModule,
    UsersModule,
    EventsModule,
    MailModule,
    RequestsModule,
    ServicesModule,
    SecondFactorRowsModule,
  ],
  controllers: [
    AuthController,
    DiscoveryController,
    PasswordRecoveryController,
    SessionsController,
    SecondStepController,
  ],
  providers: [
    AllSessionsService,
    AuthService,
    AuthorizationCodesRepository,
    CodesService,
    EndedSessions,
    EndedSessionsRepository,
    ExpiredSessions,
    EmailProofs,
    HandedOutResetCodes,
    AuthenticationGuard,
    JwtStrategy,
    KeyFileWatch,
    LiveSessionsLimit,
    LiveTokens,
    EmailCodes,
    EmailCodesOfUser,
    EmailCodesRepository,
    OldEmailCodes,
    PasswordChanges,
    PasswordRecoveryService,
    PendingRevocationsRepository,
    LoginChallenges,
    SecondStepService,
    OwnPasswordService,
    OwnerProofs,
    PasswordChangeService,
    OwnSecondFactorService,
    UserSessionsRepository,
    RefreshService,
    SessionDeletion,
    SessionEndingService,
    SessionOpening,
    RefreshTokens,
    SecondFactorEnrollment,
    SecondFactorRemoval,
    SecondFactorVerification,
    SessionTokens,
    SessionsOfUser,
    SessionsRepository,
    SessionRevocation,
    TokenIssuer,
    TotpSecrets,
    UnusedCodesLimit,
    VerifiedTokens,
    VouchedEmails,
  ],
  exports: [
    AllSessionsService,
    AuthenticationGuard,
    EmailProofs,
    HandedOutResetCodes,
    LiveTokens,
    EmailCodes,
    EmailCodesRepository,
    OwnPasswordService,
    OwnerProofs,
    PasswordChangeService,
    OwnSecondFactorService,
    SecondFactorEnrollment,
    SecondFactorRemoval,
    PasswordsModule,
    SessionDeletion,
    SessionEndingService,
    SessionsRepository,
    UserSessionsRepository,
    VouchedEmails,
  ],
})
export class AuthModule {
  static forRoot(keys: KeyRing): DynamicModule {
    return {
      module: AuthModule,
      global: true,
      providers: [{ provide: KeyRing, useValue: keys }],
      exports: [KeyRing],
    };
  }
}

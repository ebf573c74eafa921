import { Global, Module } from '@nestjs/common';
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
import { CodesService } from './sessions/codes.service.js';
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
import { SessionOpening } from './sessions/session-opening.service.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { SessionsService } from './sessions/sessions.service.js';
import { RefreshTokens, SessionTokens } from './sessions/session-tokens.js';
import { OwnSecondFactorService } from './second-factor/own-second-factor.service.js';
import { SecondFactorEnrollment } from './second-factor/second-factor-enrollment.js';
import { SecondFactorRemoval } from './second-factor/second-factor-removal.js';
import { SecondFactorRowsModule } from './second-factor/second-factor-rows.module.js';
import { SecondFactorVerification } from './second-factor/second-factor-verification.js';
import { SecondStepController } from './second-step.controller.js';
import { SecondStepService } from './second-step.service.js';
import { TotpSecrets } from './second-factor/totp.js';

@Global()
@Module({
  imports: [
    JobsModule,
    TypeOrmModule.forFeature([EmailCode]),
    PasswordsModule,
    RateLimitsModule,
    UsersModule,
    EventsModule,
    MailModule,
    RequestsModule,
    ServicesModule,
    SecondFactorRowsModule,
    SessionsModule,
  ],
  controllers: [AuthController, PasswordRecoveryController, SessionsController, SecondStepController],
  providers: [
    AuthService,
    CodesService,
    EmailProofs,
    HandedOutResetCodes,
    AuthenticationGuard,
    LiveTokens,
    EmailCodes,
    EmailCodesOfUser,
    EmailCodesRepository,
    OldEmailCodes,
    PasswordChanges,
    PasswordRecoveryService,
    LoginChallenges,
    SecondStepService,
    OwnPasswordService,
    OwnerProofs,
    PasswordChangeService,
    OwnSecondFactorService,
    SessionsService,
    SessionOpening,
    RefreshTokens,
    SecondFactorEnrollment,
    SecondFactorRemoval,
    SecondFactorVerification,
    SessionTokens,
    TotpSecrets,
    VouchedEmails,
  ],
  exports: [
    SessionsModule,
    SessionsService,
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
    VouchedEmails,
  ],
})
export class AuthModule {}

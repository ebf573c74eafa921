import { type DynamicModule, Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { MailModule } from '../mail/mail.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { WritesModule } from '../writes/writes.module.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';
import { CleanUpJobs } from './cleanup/clean-up-jobs.js';
import { ExpiredCodes } from './cleanup/expired-codes.js';
import { ExpiredEvents } from './cleanup/expired-events.js';
import { ExpiredKeys } from './cleanup/expired-keys.js';
import { ExpiredRowsService } from './cleanup/expired-rows.service.js';
import { ExpiredSessions } from './cleanup/expired-sessions.js';
import { OldMails } from './cleanup/old-mails.js';
import { AuthorizationCode } from './codes/authorization-code.entity.js';
import { AuthorizationCodesRepository } from './codes/authorization-codes.repository.js';
import { CodesService } from './codes/codes.service.js';
import { UnusedCodesLimit } from './codes/unused-codes-limit.js';
import { MailCode } from './mail-codes/mail-code.entity.js';
import { MailCodes } from './mail-codes/mail-codes.js';
import { MailCodesRepository } from './mail-codes/mail-codes.repository.js';
import { ARGON2_ENGINE, loadArgon2Engine } from './passwords/argon2-engine.js';
import { BcryptVerifier } from './passwords/bcrypt-verifier.js';
import { AcceptablePassword } from './passwords/is-acceptable-password.decorator.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import { OwnPasswordController } from './passwords/own-password.controller.js';
import { OwnPasswordService } from './passwords/own-password.service.js';
import { LogoutController } from './refresh/logout.controller.js';
import { LogoutService } from './refresh/logout.service.js';
import { OwnSessionsController } from './sessions/own-sessions.controller.js';
import { UserSessionsRepository } from './sessions/user-sessions.repository.js';
import { SessionDeletion } from './sessions/session-deletion.js';
import { SessionEndingService } from './sessions/session-ending.service.js';
import { RefreshController } from './refresh/refresh.controller.js';
import { RefreshService } from './refresh/refresh.service.js';
import { RefreshTokens } from './refresh/refresh-tokens.js';
import { SessionTokens } from './refresh/session-tokens.js';
import { DerivedSessionsLimit } from './sessions/derived-sessions-limit.js';
import { EndedSessions } from './sessions/ended-sessions.js';
import { PendingRevocation } from './sessions/pending-revocation.entity.js';
import { PendingRevocationsRepository } from './sessions/pending-revocations.repository.js';
import { SessionRemoval } from './sessions/session-removal.js';
import { SessionRevocation } from './sessions/session-revocation.js';
import { Session } from './sessions/session.entity.js';
import { SessionExchangesRepository } from './sessions/session-exchanges.repository.js';
import { SessionRefreshesRepository } from './sessions/session-refreshes.repository.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { JwksController } from './tokens/jwks.controller.js';
import { JwtAuthGuard } from './tokens/jwt-auth.guard.js';
import { JwtStrategy } from './tokens/jwt.strategy.js';
import { KeyFileWatch } from './tokens/key-file-watch.js';
import { KeyRing } from './tokens/key-ring.js';
import { TokenIssuer } from './tokens/token-issuer.js';
import { VerifiedTokens } from './tokens/verified-tokens.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Session, AuthorizationCode, PendingRevocation, MailCode]),
    JwtModule.register({}),
    PassportModule,
    RateLimitsModule,
    UsersModule,
    EventsModule,
    MailModule,
    WritesModule,
  ],
  controllers: [
    AuthController,
    JwksController,
    LogoutController,
    OwnPasswordController,
    OwnSessionsController,
    RefreshController,
  ],
  providers: [
    { provide: ARGON2_ENGINE, useFactory: loadArgon2Engine },
    AcceptablePassword,
    AuthService,
    AuthorizationCodesRepository,
    CleanUpJobs,
    CodesService,
    DerivedSessionsLimit,
    EndedSessions,
    ExpiredCodes,
    ExpiredEvents,
    ExpiredKeys,
    ExpiredRowsService,
    ExpiredSessions,
    JwtAuthGuard,
    JwtStrategy,
    KeyFileWatch,
    BcryptVerifier,
    MailCodes,
    MailCodesRepository,
    OldMails,
    PasswordHasher,
    PendingRevocationsRepository,
    LogoutService,
    OwnPasswordService,
    UserSessionsRepository,
    RefreshService,
    SessionDeletion,
    SessionEndingService,
    RefreshTokens,
    SessionRefreshesRepository,
    SessionTokens,
    SessionsRepository,
    SessionExchangesRepository,
    SessionRemoval,
    SessionRevocation,
    TokenIssuer,
    UnusedCodesLimit,
    VerifiedTokens,
  ],
  exports: [
    CleanUpJobs,
    JwtAuthGuard,
    MailCodes,
    MailCodesRepository,
    OwnPasswordService,
    PasswordHasher,
    SessionDeletion,
  ],
})
export class AuthModule {
  static forRoot(keys: KeyRing): DynamicModule {
    return { module: AuthModule, global: true, providers: [{ provide: KeyRing, useValue: keys }] };
  }
}

import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { FirstUses } from './first-uses.js';
import { KnownPlace, KnownPlacesRepository } from './known-places.repository.js';
import { LiveSessionsLimit } from './live-sessions-limit.js';
import { LoginTrace, LoginTracesRepository } from './login-traces.repository.js';
import { PendingRevocationsRepository } from './pending-revocations.repository.js';
import { SessionDeletion } from './session-deletion.js';
import { SessionRefreshRepository } from './sessions.refresh.js';
import { SessionRevocation } from './session-revocation.js';
import { AuthorizationCode, PendingRevocation, Session } from './session.entity.js';
import { UserSessionsRepository } from './sessions.of-user.js';
import { SessionsRepository } from './sessions.repository.js';

const PROVIDERS = [
  AuthorizationCodesRepository,
  FirstUses,
  KnownPlacesRepository,
  LiveSessionsLimit,
  LoginTracesRepository,
  PendingRevocationsRepository,
  SessionDeletion,
  SessionRefreshRepository,
  SessionRevocation,
  SessionsRepository,
  UserSessionsRepository,
];

/** The CLI imports this module, so nothing here needs signing keys. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forFeature([AuthorizationCode, KnownPlace, LoginTrace, PendingRevocation, Session]),
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class SessionsModule {}

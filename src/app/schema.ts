import type { DataSource } from 'typeorm';
import { loadEnv } from '../config/env.js';
import { AuthorizationCodesRepository } from '../auth/sessions/authorization-codes.repository.js';
import { EmailCode, EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { AuthorizationCode, PendingRevocation, Session } from '../auth/sessions/session.entity.js';
import { PendingRevocationsRepository } from '../auth/sessions/pending-revocations.repository.js';
import {
  SecondFactorFailures,
  SecondFactorFailuresRepository,
} from '../auth/second-factor/second-factor-failures.repository.js';
import { RecoveryCode, RecoveryCodesRepository } from '../auth/second-factor/recovery-codes.repository.js';
import { SecondFactor, SecondFactorsRepository } from '../auth/second-factor/second-factors.repository.js';
import { SessionsRepository } from '../auth/sessions/sessions.repository.js';
import { UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import { FeedRepository } from '../events/feed.repository.js';
import { Event, FeedEntry } from '../events/event.entity.js';
import { EventsRepository } from '../events/events.repository.js';
import { Mail } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { Invitation, Member, Org } from '../orgs/state/org.entity.js';
import { IdempotencyKey, IdempotencyKeysRepository } from '../requests/idempotency-keys.repository.js';
import { OrgsRepository } from '../orgs/state/orgs.repository.js';
import { InvitationLists } from '../orgs/state/invitations.lists.js';
import { InvitationsRepository } from '../orgs/state/invitations.repository.js';
import { MemberLists } from '../orgs/state/members.lists.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { Memberships } from '../orgs/state/members.memberships.js';
import { UserUpdates } from '../users/users.updates.js';
import { UsersRepository } from '../users/users.repository.js';
import { CreateSchema1795219200000 } from '../database/migrations/1795219200000-create-schema.js';
import { createDataSource, dataSourceOptions, type Schema } from '../database/database.module.js';
import { LiftedLimit, LiftedLimitsRepository } from '../rate-limits/lifted-limits.repository.js';
import { Service, ServiceSecret } from '../services/service.entity.js';
import { ServiceSecretsRepository } from '../services/service-secrets.repository.js';
import { ServicesRepository } from '../services/services.repository.js';
import { User } from '../users/user.entity.js';

/** Loading these files registers the hot statements. */
export const REPOSITORIES = [
  UsersRepository,
  UserUpdates,
  SessionsRepository,
  UserSessionsRepository,
  AuthorizationCodesRepository,
  PendingRevocationsRepository,
  SecondFactorsRepository,
  SecondFactorFailuresRepository,
  RecoveryCodesRepository,
  OrgsRepository,
  MembersRepository,
  MemberLists,
  Memberships,
  InvitationsRepository,
  InvitationLists,
  EventsRepository,
  FeedRepository,
  MailsRepository,
  EmailCodesRepository,
  IdempotencyKeysRepository,
  LiftedLimitsRepository,
  ServicesRepository,
  ServiceSecretsRepository,
];

export const SCHEMA: Schema = {
  entities: [
    User,
    Session,
    AuthorizationCode,
    PendingRevocation,
    SecondFactor,
    SecondFactorFailures,
    RecoveryCode,
    Org,
    Member,
    Invitation,
    IdempotencyKey,
    LiftedLimit,
    Event,
    FeedEntry,
    Mail,
    EmailCode,
    Service,
    ServiceSecret,
  ],
  migrations: [CreateSchema1795219200000],
};

/** The data source of TypeORM's command line, which opens it itself. */
export async function migrationDataSource(): Promise<DataSource> {
  return createDataSource(await dataSourceOptions(loadEnv(), SCHEMA, 'maintenance'));
}

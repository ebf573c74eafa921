import type { DataSource } from 'typeorm';
import { ApiKey } from '../../src/api-keys/api-keys.repository.js';
import { ApiKeysRepository } from '../../src/api-keys/api-keys.repository.js';
import { Event, FeedEntry } from '../../src/events/event.entity.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import { Invitation, Member, Org } from '../../src/orgs/state/org.entity.js';
import { InvitationsRepository } from '../../src/orgs/state/invitations.repository.js';
import { OrgChanges } from '../../src/orgs/state/org-changes.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import { IdempotencyKey, IdempotencyKeysRepository } from '../../src/requests/idempotency-keys.repository.js';
import { Writes } from '../../src/requests/writes.js';
import { UserChanges } from '../../src/users/user-changes.js';
import { UserUpdatesRepository } from '../../src/users/users.updates.js';
import type { DataLayer } from './data-source.js';
import { CleanUp, OrgPurge } from '../../src/clean-up/clean-up.js';
import { LoginTrace, LoginTracesRepository } from '../../src/auth/sessions/login-traces.repository.js';
import { KnownPlace, KnownPlacesRepository } from '../../src/auth/sessions/known-places.repository.js';
import {
  ProviderLogin,
  ProviderLoginsRepository,
} from '../../src/auth/providers/provider-logins.repository.js';
import { LiveSessionsLimit } from '../../src/auth/sessions/live-sessions-limit.js';
import { LiftedLimit, LiftedLimitsRepository } from '../../src/rate-limits/lifted-limits.repository.js';
import { LiftedLimits } from '../../src/rate-limits/login-limits.js';
import { SlidingWindowStore } from '../../src/rate-limits/sliding-window-store.js';
import { parseEnv } from '../../src/config/env.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { OperatorEmail, OperatorEmailsRepository } from '../../src/events/operator-emails.repository.js';
import { FeedRepository } from '../../src/events/feed.repository.js';
import { PendingMarks } from '../../src/events/feed-numbering.js';
import { EventAddressesRepository } from '../../src/events/events.addresses.js';
import { EventsRetention } from '../../src/events/events-retention.js';
import { EmailCode, EmailCodesRepository } from '../../src/auth/email-codes/email-codes.repository.js';
import { Mail } from '../../src/mail/mail.entity.js';
import { Mails } from '../../src/mail/mails.js';
import { MailsRepository } from '../../src/mail/mails.repository.js';
import { AuthorizationCode, PendingRevocation, Session } from '../../src/auth/sessions/session.entity.js';
import { AuthorizationCodesRepository } from '../../src/auth/sessions/authorization-codes.repository.js';
import { InvitationListsRepository } from '../../src/orgs/state/invitations.lists.js';
import { PendingRevocationsRepository } from '../../src/auth/sessions/pending-revocations.repository.js';
import { UserSessionsRepository } from '../../src/auth/sessions/sessions.of-user.js';
import { SessionDeletion } from '../../src/auth/sessions/session-deletion.js';
import { SessionRevocation } from '../../src/auth/sessions/session-revocation.js';

export function orgChanges(
  { dataSource, transactions }: Pick<DataLayer, 'dataSource' | 'transactions'>,
  members = new MembersRepository(dataSource.getRepository(Member)),
): OrgChanges {
  const keys = new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), transactions);
  return new OrgChanges(
    new OrgsRepository(dataSource.getRepository(Org)),
    members,
    userChanges({ dataSource, transactions }),
    eventsRepository(dataSource),
    new Writes(transactions, keys),
    transactions,
  );
}

function operatorEmails(dataSource: DataSource): OperatorEmailsRepository {
  return new OperatorEmailsRepository(dataSource.getRepository(OperatorEmail));
}

function eventsRepository(dataSource: DataSource): EventsRepository {
  return new EventsRepository(dataSource.getRepository(Event), operatorEmails(dataSource));
}

export function userChanges({
  dataSource,
  transactions,
}: Pick<DataLayer, 'dataSource' | 'transactions'>): UserChanges {
  const events = eventsRepository(dataSource);
  return new UserChanges(new UserUpdatesRepository(), events, transactions);
}

/** The clean-up of a service, as far as a test does not replace its parts. */
export function aCleanUp(dataSource: DataSource, sessions = aDeletion(dataSource)): CleanUp {
  const env = parseEnv({});
  const transactions = new Transactions(dataSource);
  const events = eventsRepository(dataSource);
  const feed = new FeedRepository(dataSource.getRepository(FeedEntry));
  return new CleanUp(
    aLiveSessionsLimit(dataSource, sessions),
    sessions,
    new KnownPlacesRepository(dataSource.getRepository(KnownPlace)),
    new LoginTracesRepository(dataSource.getRepository(LoginTrace)),
    new EventsRetention(events, new EventAddressesRepository(dataSource.getRepository(Event)), feed, env),
    operatorEmails(dataSource),
    new PendingMarks(events, feed, transactions),
    new Mails(new MailsRepository(dataSource.getRepository(Mail), transactions), events, transactions, env),
    new EmailCodesRepository(dataSource.getRepository(EmailCode)),
    new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), transactions),
    new ApiKeysRepository(dataSource.getRepository(ApiKey), transactions, parseEnv({})),
    anOrgPurge(dataSource),
    new InvitationListsRepository(dataSource.getRepository(Invitation)),
    new LiftedLimits(
      env,
      new LiftedLimitsRepository(dataSource.getRepository(LiftedLimit)),
      new SlidingWindowStore(),
    ),
    new ProviderLoginsRepository(dataSource.getRepository(ProviderLogin), transactions),
  );
}

export function anOrgPurge(
  dataSource: DataSource,
  orgs = new OrgsRepository(dataSource.getRepository(Org)),
): OrgPurge {
  const transactions = new Transactions(dataSource);
  return new OrgPurge(
    orgChanges({ dataSource, transactions }),
    orgs,
    new MembersRepository(dataSource.getRepository(Member)),
    new InvitationsRepository(dataSource.getRepository(Invitation), transactions),
    new ApiKeysRepository(dataSource.getRepository(ApiKey), transactions, parseEnv({})),
  );
}

export const aDeletion = (dataSource: DataSource): SessionDeletion =>
  new SessionDeletion(
    new UserSessionsRepository(dataSource.getRepository(Session)),
    new AuthorizationCodesRepository(dataSource.getRepository(AuthorizationCode)),
    new PendingRevocationsRepository(dataSource.getRepository(PendingRevocation)),
    parseEnv({}),
  );

export const aRevocation = (dataSource: DataSource, deletion = aDeletion(dataSource)): SessionRevocation =>
  new SessionRevocation(
    new UserSessionsRepository(dataSource.getRepository(Session)),
    new AuthorizationCodesRepository(dataSource.getRepository(AuthorizationCode)),
    new PendingRevocationsRepository(dataSource.getRepository(PendingRevocation)),
    userChanges({ dataSource, transactions: new Transactions(dataSource) }),
    new UserUpdatesRepository(),
    eventsRepository(dataSource),
    new Transactions(dataSource),
    deletion,
  );

export const aLiveSessionsLimit = (
  dataSource: DataSource,
  deletion = aDeletion(dataSource),
): LiveSessionsLimit =>
  new LiveSessionsLimit(
    new UserSessionsRepository(dataSource.getRepository(Session)),
    aRevocation(dataSource, deletion),
    deletion,
  );

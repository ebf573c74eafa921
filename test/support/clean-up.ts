import { parseEnv } from '../../src/config/env.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import { Event, FeedEntry } from '../../src/events/event.entity.js';
import { FeedRepository } from '../../src/events/feed.repository.js';
import { PendingMarks } from '../../src/events/feed-numbering.js';
import { EventAddresses } from '../../src/events/events.addresses.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import type { DataSource } from 'typeorm';
import { CleanUpJobs } from '../../src/clean-up/clean-up-jobs.js';
import { EventsRetention } from '../../src/events/events-retention.js';
import { ExpiredKeys } from '../../src/requests/expired-keys.js';
import { CleanUpService } from '../../src/clean-up/clean-up.js';
import { UserChangesRepository } from '../../src/users/user-changes.repository.js';
import { OldEmailCodes } from '../../src/auth/email-codes/old-email-codes.js';
import { Mails } from '../../src/mail/mails.js';
import { EmailCode } from '../../src/auth/email-codes/email-code.entity.js';
import { EmailCodesRepository } from '../../src/auth/email-codes/email-codes.repository.js';
import { Mail } from '../../src/mail/mail.entity.js';
import { MailsRepository } from '../../src/mail/mails.repository.js';
import { AuthorizationCode, PendingRevocation, Session } from '../../src/auth/sessions/session.entity.js';
import { AuthorizationCodesRepository } from '../../src/auth/sessions/authorization-codes.repository.js';
import { InvitationsRepository } from '../../src/orgs/state/invitations.repository.js';
import { Member } from '../../src/orgs/state/member.entity.js';
import { MembersRepository } from '../../src/orgs/state/members.repository.js';
import { OrgsRepository } from '../../src/orgs/state/orgs.repository.js';
import { orgChanges } from './org-changes.js';
import { Invitation } from '../../src/orgs/state/invitation.entity.js';
import { InvitationLists } from '../../src/orgs/state/invitations.lists.js';
import { Org } from '../../src/orgs/state/org.entity.js';
import { OrgPurge } from '../../src/orgs/org-purge.js';
import { PendingRevocationsRepository } from '../../src/auth/sessions/pending-revocations.repository.js';
import { UserSessionsRepository } from '../../src/auth/sessions/sessions.of-user.js';
import { SessionDeletion } from '../../src/auth/sessions/session-deletion.js';
import { SessionRevocation } from '../../src/auth/sessions/session-revocation.js';
import { IdempotencyKey } from '../../src/requests/idempotency-key.entity.js';
import { IdempotencyKeysRepository } from '../../src/requests/idempotency-keys.repository.js';

export function aCleanUp(dataSource: DataSource, jobs = cleanUpJobs(dataSource)): CleanUpService {
  return new CleanUpService(jobs);
}

export function cleanUpJobs(dataSource: DataSource): CleanUpJobs {
  const jobs = new CleanUpJobs();
  const transactions = new Transactions(dataSource);
  const events = new EventsRepository(dataSource.getRepository(Event));
  const feed = new FeedRepository(dataSource.getRepository(FeedEntry));
  const rooms = [
    new OldEmailCodes(new EmailCodesRepository(dataSource.getRepository(EmailCode)), jobs),
    new ExpiredKeys(
      new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), transactions),
      jobs,
    ),
  ];
  const invitations = new InvitationLists(dataSource.getRepository(Invitation));
  const purge = anOrgPurge(dataSource);
  jobs.add((now) => invitations.markExpired(now));
  jobs.add((now) => invitations.deleteOld(now));
  jobs.add((now) => purge.purgeBatch(now));
  const addresses = new EventAddresses(dataSource.getRepository(Event));
  const retention = new EventsRetention(events, addresses, feed, parseEnv({}));
  const marks = new PendingMarks(events, feed, transactions);
  jobs.add((now) => retention.deleteEvents(now));
  jobs.add((now) => retention.deleteAddresses(now));
  jobs.add((now) => retention.deleteEntriesLeft(now));
  jobs.add(() => marks.clearLeft());
  const rows = new MailsRepository(dataSource.getRepository(Mail), transactions);
  const mails = new Mails(rows, events, transactions, parseEnv({}));
  jobs.add((now) => mails.deleteOld(now));
  const sessions = aDeletion(dataSource);
  jobs.add((now) => sessions.deleteExpiredCodes(now));
  jobs.add((now) => sessions.deleteExpired(now));
  for (const room of rooms) room.onModuleInit();
  return jobs;
}

export function anOrgPurge(
  dataSource: DataSource,
  orgs = new OrgsRepository(dataSource.getRepository(Org)),
): OrgPurge {
  const transactions = new Transactions(dataSource);
  return new OrgPurge(
    orgChanges({ dataSource, transactions, env: parseEnv({}) }),
    orgs,
    new MembersRepository(dataSource.getRepository(Member)),
    new InvitationsRepository(dataSource.getRepository(Invitation), transactions),
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
    new UserChangesRepository(),
    new EventsRepository(dataSource.getRepository(Event)),
    new Transactions(dataSource),
    deletion,
  );

import { parseEnv } from '../../src/config/parse-env.js';
import { Transactions } from '../../src/database/transactions.js';
import { Event } from '../../src/events/event.entity.js';
import { EventAddressesRepository } from '../../src/events/event-addresses.repository.js';
import { EventsRepository } from '../../src/events/events.repository.js';
import type { DataSource } from 'typeorm';
import { CleanUpJobs } from '../../src/auth/cleanup/clean-up-jobs.js';
import { ExpiredCodes } from '../../src/auth/cleanup/expired-codes.js';
import { ExpiredEvents } from '../../src/auth/cleanup/expired-events.js';
import { ExpiredKeys } from '../../src/auth/cleanup/expired-keys.js';
import { ExpiredRowsService } from '../../src/auth/cleanup/expired-rows.service.js';
import { ExpiredSessions } from '../../src/auth/cleanup/expired-sessions.js';
import { OldMails } from '../../src/auth/cleanup/old-mails.js';
import { MailCode } from '../../src/auth/mail-codes/mail-code.entity.js';
import { MailCodesRepository } from '../../src/auth/mail-codes/mail-codes.repository.js';
import { Mail } from '../../src/mail/mail.entity.js';
import { MailsRepository } from '../../src/mail/mails.repository.js';
import { AuthorizationCode } from '../../src/auth/codes/authorization-code.entity.js';
import { AuthorizationCodesRepository } from '../../src/auth/codes/authorization-codes.repository.js';
import { ExpiredInvitations } from '../../src/invitations/expired-invitations.js';
import { DeletedOrgsRepository } from '../../src/memberships/deleted-orgs.repository.js';
import { Invitation } from '../../src/memberships/invitation.entity.js';
import { InvitationListRepository } from '../../src/memberships/invitation-list.repository.js';
import { Org } from '../../src/memberships/org.entity.js';
import { OrgPurge } from '../../src/orgs/org-purge.js';
import { PendingRevocation } from '../../src/auth/sessions/pending-revocation.entity.js';
import { PendingRevocationsRepository } from '../../src/auth/sessions/pending-revocations.repository.js';
import { EndedSessions } from '../../src/auth/sessions/ended-sessions.js';
import { SessionRemoval } from '../../src/auth/sessions/session-removal.js';
import { SessionRevocation } from '../../src/auth/sessions/session-revocation.js';
import { Session } from '../../src/auth/sessions/session.entity.js';
import { IdempotencyKey } from '../../src/writes/idempotency-key.entity.js';
import { IdempotencyKeysRepository } from '../../src/writes/idempotency-keys.repository.js';
import { UserSessionsRepository } from '../../src/auth/sessions/user-sessions.repository.js';
import { SessionsRepository } from '../../src/auth/sessions/sessions.repository.js';

export function aCleanUp(dataSource: DataSource, jobs = cleanUpJobs(dataSource)): ExpiredRowsService {
  return new ExpiredRowsService(
    new ExpiredCodes(new AuthorizationCodesRepository(dataSource.getRepository(AuthorizationCode))),
    new ExpiredSessions(new SessionsRepository(dataSource.getRepository(Session)), aRemoval(dataSource)),
    new ExpiredEvents(
      new EventsRepository(dataSource.getRepository(Event)),
      new EventAddressesRepository(dataSource.getRepository(Event)),
      parseEnv({}),
    ),
    new OldMails(
      new MailsRepository(dataSource.getRepository(Mail), new Transactions(dataSource)),
      new MailCodesRepository(dataSource.getRepository(MailCode)),
    ),
    new ExpiredKeys(
      new IdempotencyKeysRepository(dataSource.getRepository(IdempotencyKey), new Transactions(dataSource)),
    ),
    aRevocation(dataSource),
    jobs,
  );
}

/** Of the rooms above. */
function cleanUpJobs(dataSource: DataSource): CleanUpJobs {
  const jobs = new CleanUpJobs();
  anOrgPurge(dataSource, jobs).onModuleInit();
  const invitations = new InvitationListRepository(dataSource.getRepository(Invitation));
  new ExpiredInvitations(invitations, jobs).onModuleInit();
  return jobs;
}

export function anOrgPurge(dataSource: DataSource, jobs = new CleanUpJobs()): OrgPurge {
  return new OrgPurge(
    new DeletedOrgsRepository(dataSource.getRepository(Org)),
    new EventsRepository(dataSource.getRepository(Event)),
    new Transactions(dataSource),
    jobs,
  );
}

const aRemoval = (dataSource: DataSource): SessionRemoval =>
  new SessionRemoval(new SessionsRepository(dataSource.getRepository(Session)));

export function endedSessions(dataSource: DataSource, jobs = new CleanUpJobs()): EndedSessions {
  return new EndedSessions(
    new UserSessionsRepository(dataSource.getRepository(Session)),
    new AuthorizationCodesRepository(dataSource.getRepository(AuthorizationCode)),
    aRemoval(dataSource),
    jobs,
    parseEnv({}),
  );
}

export function aRevocation(dataSource: DataSource, ended = endedSessions(dataSource)): SessionRevocation {
  return new SessionRevocation(
    new SessionsRepository(dataSource.getRepository(Session)),
    new PendingRevocationsRepository(dataSource.getRepository(PendingRevocation)),
    new EventsRepository(dataSource.getRepository(Event)),
    new Transactions(dataSource),
    ended,
  );
}

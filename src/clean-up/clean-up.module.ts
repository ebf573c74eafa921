import { Module } from '@nestjs/common';
import { LiveSessionsLimit } from '../auth/sessions/live-sessions-limit.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { SessionsModule } from '../auth/sessions/sessions.module.js';
import { EventsModule } from '../events/events.module.js';
import { EventsRetention } from '../events/events-retention.js';
import { PendingMarks } from '../events/feed-numbering.js';
import { MailModule } from '../mail/mail.module.js';
import { Mails } from '../mail/mails.js';
import { OrgPurge } from '../orgs/org-purge.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { InvitationLists } from '../orgs/state/invitations.lists.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { CleanUpJobs } from './clean-up-jobs.js';
import { CleanUpService } from '../clean-up/clean-up.js';
import { JobsModule } from './jobs.module.js';

@Module({
  imports: [EventsModule, JobsModule, MailModule, OrgsModule, OrgStateModule, SessionsModule],
  providers: [CleanUpService],
})
export class CleanUpModule {
  constructor(
    jobs: CleanUpJobs,
    events: EventsRetention,
    marks: PendingMarks,
    mails: Mails,
    deletion: SessionDeletion,
    revocation: SessionRevocation,
    limit: LiveSessionsLimit,
    invitations: InvitationLists,
    orgs: OrgPurge,
  ) {
    jobs.add((now) => events.deleteEvents(now));
    jobs.add((now) => events.deleteAddresses(now));
    jobs.add((now) => events.deleteEntriesLeft(now));
    jobs.add(() => marks.clearLeft());
    jobs.add((now) => mails.deleteOld(now));
    jobs.add((now) => revocation.resume(now));
    jobs.add(() => limit.lookAgain());
    jobs.add((now) => deletion.deleteExpiredCodes(now));
    jobs.add((now) => deletion.deleteExpired(now));
    jobs.add((now) => deletion.deleteEnded(now));
    jobs.add((now) => invitations.markExpired(now));
    jobs.add((now) => invitations.deleteOld(now));
    jobs.add((now) => orgs.purgeBatch(now));
  }
}

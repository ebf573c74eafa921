import { Module } from '@nestjs/common';
import { LiveSessionsLimit } from '../auth/sessions/live-sessions-limit.js';
import { SessionDeletion } from '../auth/sessions/session-deletion.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { SessionsModule } from '../auth/sessions/sessions.module.js';
import { CleanUpJobs } from './clean-up-jobs.js';
import { CleanUpService } from '../clean-up/clean-up.js';
import { JobsModule } from './jobs.module.js';

@Module({ imports: [JobsModule, SessionsModule], providers: [CleanUpService] })
export class CleanUpModule {
  constructor(
    jobs: CleanUpJobs,
    deletion: SessionDeletion,
    revocation: SessionRevocation,
    limit: LiveSessionsLimit,
  ) {
    jobs.add((now) => revocation.resume(now));
    jobs.add(() => limit.lookAgain());
    jobs.add((now) => deletion.deleteExpiredCodes(now));
    jobs.add((now) => deletion.deleteExpired(now));
    jobs.add((now) => deletion.deleteEnded(now));
  }
}

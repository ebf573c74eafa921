import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BATCH, type Batch } from '../../jobs/batch.js';
import { CleanUpJobs } from '../../jobs/clean-up-jobs.js';
import { InvitationListRepository } from './invitation-list.repository.js';

/** Marks expired invitations, and deletes those that ended long ago: the rows hold e-mails. */
@Injectable()
export class ExpiredInvitations implements OnModuleInit {
  constructor(
    private readonly invitations: InvitationListRepository,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.noteBatch(now));
    this.jobs.add((now) => this.deleteBatch(now));
  }

  async noteBatch(now: number): Promise<Batch> {
    const ids = await this.invitations.findExpired(now, BATCH);
    if (ids.length > 0) await this.invitations.noteExpired(ids, now);
    return { examined: ids.length, deleted: 0 };
  }

  async deleteBatch(now: number): Promise<Batch> {
    const ids = await this.invitations.findOld(now, BATCH);
    if (ids.length > 0) await this.invitations.delete(ids);
    return { examined: ids.length, deleted: ids.length };
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BATCH, type Batch, deleteFound } from '../../database/batches.js';
import { CleanUpJobs } from '../../clean-up/clean-up-jobs.js';
import { InvitationLists } from '../state/invitations.lists.js';

/** Marks expired invitations, and deletes those that ended long ago: the rows hold emails. */
@Injectable()
export class ExpiredInvitations implements OnModuleInit {
  constructor(
    private readonly invitations: InvitationLists,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.noteBatch(now));
    this.jobs.add(async (now) =>
      deleteFound(await this.invitations.findOld(now, BATCH), (ids) => this.invitations.delete(ids)),
    );
  }

  async noteBatch(now: number): Promise<Batch> {
    const ids = await this.invitations.findExpired(now, BATCH);
    if (ids.length > 0) await this.invitations.noteExpired(ids, now);
    return { examined: ids.length, deleted: 0 };
  }
}

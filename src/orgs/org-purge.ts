import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BATCH, type Batch } from '../database/batches.js';
import { CleanUpJobs } from '../clean-up/clean-up-jobs.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { Transactions } from '../database/transactions/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { DeletedOrgsRepository } from './state/deleted-orgs.repository.js';

/** Purges in short transactions: members, invitations, then the organization. An interrupted purge is found again. */
@Injectable()
export class OrgPurge implements OnModuleInit {
  constructor(
    private readonly orgs: DeletedOrgsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
    private readonly jobs: CleanUpJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.add((now) => this.purgeBatch(now));
  }

  /** Deletes explicitly, because Galera does not certify the rows that a cascade deletes. */
  async purgeBatch(now: number): Promise<Batch> {
    const id = await this.orgs.findDue(now);
    if (id === undefined) return { examined: 0, deleted: 0 };
    const deleted = await this.transactions.run(
      async (transaction) =>
        (await this.orgs.lockDue(transaction, id, now)) ? this.deleteRows(transaction, id) : 0,
      { row: id },
    );
    return { examined: BATCH, deleted };
  }

  private async deleteRows(transaction: Transaction, orgId: string): Promise<number> {
    const members = await this.orgs.deleteMembers(transaction, orgId, BATCH);
    if (members === BATCH) return members;
    const invitations = await this.orgs.deleteInvitations(transaction, orgId, BATCH);
    if (invitations === BATCH) return members + invitations;
    const orgRevision = await this.orgs.revisionOf(transaction, orgId);
    await this.orgs.purge(transaction, orgId);
    await this.events.record(transaction, {
      type: 'org.purged',
      actor: { kind: 'system' },
      orgId,
      orgRevision,
    });
    return members + invitations + 1;
  }
}

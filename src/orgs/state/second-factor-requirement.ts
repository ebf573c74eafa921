import { Injectable } from '@nestjs/common';
import { BATCH } from '../../database/statements.js';
import { Unchanged } from '../../database/transactions/transactions.js';
import { OrgChanges } from './org-changes.js';
import { NO_FACTS, OrgsRepository } from './orgs.repository.js';

@Injectable()
export class SecondFactorRequirement {
  constructor(
    private readonly changes: OrgChanges,
    private readonly orgs: OrgsRepository,
  ) {}

  async recordDue(stopping: AbortSignal): Promise<void> {
    for (let isFull = true; isFull;) {
      const due = await this.orgs.findFactorDue();
      let recorded = 0;
      for (const id of due) {
        if (stopping.aborted) return;
        if (await this.record(id)) recorded += 1;
      }
      isFull = due.length === BATCH && recorded > 0;
    }
  }

  /** Decides again under the lock, so that one of several instances records the event. */
  private async record(orgId: string): Promise<boolean> {
    const system = { actor: { kind: 'system' } } as const;
    const { kind } = await this.changes.inAnyOrg(system, orgId, NO_FACTS, async (tx, org) => {
      if (!org?.isFactorRequired || org.secondFactorDueAt === null) return new Unchanged({});
      await this.orgs.endFactorDue(tx, orgId);
      await org.record({ type: 'org.second_factor_due' });
      return {};
    });
    return kind === 'done';
  }
}

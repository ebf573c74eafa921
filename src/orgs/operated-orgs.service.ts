import { Injectable } from '@nestjs/common';
import { type Actor, principalOf } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import { OrgNotFoundError } from './members/members.errors.js';
import type { OrgEvent } from './org-changes.js';
import { OrgDeletion } from './org-deletion.js';
import { requireRestorable } from './org-policy.js';
import type { Org } from './org.entity.js';
import { OrgsRepository } from './orgs.repository.js';
import { NoEnabledOwnerError } from './owners.errors.js';
import { OwnershipRepository } from './ownership.repository.js';

type Restored = Pick<Org, 'id' | 'name'>;

/** Deletes and restores organizations as their owners do, for operators. */
@Injectable()
export class OperatedOrgs {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly deletedOrgs: DeletedOrgsRepository,
    private readonly ownership: OwnershipRepository,
    private readonly deletion: OrgDeletion,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  /** Returns until when it can be restored (epoch milliseconds). One that is deleted stays as it is. */
  delete(orgId: string, actor: Actor): Promise<number> {
    return this.change(orgId, actor, async (transaction, { purgeAt: before }) => {
      if (before !== null) return { answer: before, events: [] };
      const { purgeAt, events } = await this.deletion.delete(transaction, orgId);
      return { answer: purgeAt, events };
    });
  }

  /**
   * One that is not deleted stays as it is.
   * @param force allows it to have no enabled owner
   * @throws OrgNotFoundError when its time is over, NoEnabledOwnerError
   */
  restore(orgId: string, { actor, force }: { actor: Actor; force: boolean }): Promise<Restored> {
    return this.change(orgId, actor, async (transaction, { id, name, purgeAt, purgeBeganAt }) => {
      const answer = { id, name };
      if (purgeAt === null) return { answer, events: [] };
      requireRestorable({ purgeAt, isBeingPurged: purgeBeganAt === null ? 0 : 1 }, Date.now());
      const hasOwner = await this.ownership.hasEnabledOwner(transaction, orgId);
      if (!hasOwner && !force) throw new NoEnabledOwnerError();
      await this.deletedOrgs.restore(transaction, orgId);
      return { answer, events: [{ type: 'org.restored', ...(!hasOwner && { data: { force: true } }) }] };
    });
  }

  private change<T>(
    orgId: string,
    actor: Actor,
    decide: (transaction: Transaction, org: Org) => Promise<{ answer: T; events: OrgEvent[] }>,
  ): Promise<T> {
    return this.transactions.run(
      async (transaction) => {
        const isThere = await this.orgs.lockEvenDeleted(transaction, orgId);
        const org = isThere ? await this.orgs.findIn(transaction, orgId) : null;
        if (!org) throw new OrgNotFoundError();
        const { answer, events } = await decide(transaction, org);
        const about = { actor, orgId, orgRevision: org.revision };
        await this.events.record(transaction, ...events.map((event) => Object.assign(event, about)));
        return answer;
      },
      { principal: principalOf(actor), row: orgId },
    );
  }
}

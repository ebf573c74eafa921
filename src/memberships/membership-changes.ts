import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Lookup } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import type { NewEvent } from '../events/new-event.js';
import { OrgNotFoundError } from './memberships.errors.js';
import { OrgsRepository } from './orgs.repository.js';

export interface MembershipChange<Facts, Decision> {
  decide: (facts: Facts) => Decision;
  /** false when the database refused */
  write: (transaction: Transaction, decision: Decision) => Promise<boolean>;
  /** the error for a refusal under the lock */
  refusal: () => Error;
  /** what the record says of it; undefined where nothing changed */
  event: (decision: Decision) => MembershipEvent | undefined;
  /** what goes with it, such as invitations, with their events */
  follow?: (transaction: Transaction, decision: Decision) => Promise<MembershipEvent[]>;
}

type MembershipEvent = Pick<NewEvent, 'type' | 'userId' | 'data'>;

/** What was decided on does not hold any more. */
class StaleDecisionError extends Error {}

/**
 * Decides on one query that requests share. The decision holds if the organization has the same revision once
 * it is locked; otherwise the change is decided again under the lock.
 */
@Injectable()
export class MembershipChanges {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly events: EventsRepository,
    private readonly transactions: Transactions,
  ) {}

  async run<Key extends { orgId: string }, Facts extends { revision: number }, Decision>(
    lookup: Lookup<Key, Facts>,
    key: Key,
    actor: Actor,
    change: MembershipChange<Facts, Decision>,
  ): Promise<Decision> {
    const facts = await lookup.find(key);
    if (!facts) throw new OrgNotFoundError();
    const decision = change.decide(facts);
    try {
      await this.transactions.run(async (transaction) => {
        const holds = await this.orgs.lockAt(transaction, key.orgId, facts.revision);
        if (!holds || !(await change.write(transaction, decision))) throw new StaleDecisionError();
        const at = { actor, orgId: key.orgId, orgRevision: facts.revision + 1 };
        await this.record(transaction, at, change, decision);
      });
      return decision;
    } catch (error) {
      if (!(error instanceof StaleDecisionError)) throw error;
      return this.runLocked(lookup, key, actor, change);
    }
  }

  private runLocked<Key extends { orgId: string }, Facts extends { revision: number }, Decision>(
    lookup: Lookup<Key, Facts>,
    key: Key,
    actor: Actor,
    change: MembershipChange<Facts, Decision>,
  ): Promise<Decision> {
    return this.transactions.run(async (transaction) => {
      const facts = (await this.orgs.lock(transaction, key.orgId))
        ? await lookup.findIn(transaction, key)
        : undefined;
      if (!facts) throw new OrgNotFoundError();
      const decision = change.decide(facts);
      if (!(await change.write(transaction, decision))) throw change.refusal();
      const at = { actor, orgId: key.orgId, orgRevision: facts.revision };
      await this.record(transaction, at, change, decision);
      return decision;
    });
  }

  private async record<Decision>(
    transaction: Transaction,
    at: Pick<NewEvent, 'actor' | 'orgId' | 'orgRevision'>,
    { event, follow }: Pick<MembershipChange<never, Decision>, 'event' | 'follow'>,
    decision: Decision,
  ): Promise<void> {
    const changes = [event(decision) ?? [], (await follow?.(transaction, decision)) ?? []].flat();
    if (changes.length > 0) {
      await this.events.record(transaction, ...changes.map((change) => Object.assign(change, at)));
    }
  }
}

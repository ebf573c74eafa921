import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/actor.js';
import type { Lookup } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { EventsRepository } from '../events/events.repository.js';
import type { NewEvent } from '../events/new-event.js';
import { requireMatch } from '../writes/entity-tags.js';
import type { Write } from '../writes/write.js';
import { Writes } from '../writes/writes.js';
import { OrgNotFoundError } from './memberships.errors.js';
import { OrgWrites } from './org-writes.js';
import { OrgsRepository } from './orgs.repository.js';

export interface MembershipChange<Facts, Decision, Answer> {
  decide: (facts: Facts) => Decision;
  /** false when the database refused */
  write: (transaction: Transaction, decision: Decision, facts: Facts) => Promise<boolean>;
  /** the error for a refusal under the lock */
  refusal: () => Error;
  /** what the record says of it; undefined where nothing changed */
  event: (decision: Decision) => MembershipEvent | undefined;
  /** the body */
  answer: (decision: Decision) => Answer;
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
    private readonly orgWrites: OrgWrites,
    private readonly writes: Writes,
    private readonly events: EventsRepository,
  ) {}

  async run<
    Key extends { orgId: string },
    Facts extends { revision: number },
    Decision,
    Answer extends object,
  >(
    write: Write,
    lookup: Lookup<Key, Facts>,
    key: Key,
    steps: MembershipChange<Facts, Decision, Answer>,
  ): Promise<Answer> {
    const facts = await lookup.find(key);
    if (!facts) throw new OrgNotFoundError();
    // Holds, too, if the organization is at that revision once it is locked.
    requireMatch(write, facts.revision);
    const decision = steps.decide(facts);
    try {
      return await this.writes.run(write, async (transaction) => {
        const holds = await this.orgs.lockAt(transaction, key.orgId, facts.revision);
        if (!holds || !(await steps.write(transaction, decision, facts))) throw new StaleDecisionError();
        await this.record(transaction, write.actor, key.orgId, facts.revision + 1, steps.event(decision));
        return steps.answer(decision);
      });
    } catch (error) {
      if (!(error instanceof StaleDecisionError)) throw error;
      return this.runLocked(write, lookup, key, steps);
    }
  }

  private runLocked<
    Key extends { orgId: string },
    Facts extends { revision: number },
    Decision,
    Answer extends object,
  >(
    write: Write,
    lookup: Lookup<Key, Facts>,
    key: Key,
    steps: MembershipChange<Facts, Decision, Answer>,
  ): Promise<Answer> {
    return this.orgWrites.run(write, key.orgId, {
      read: (transaction) => lookup.findIn(transaction, key),
      work: async (transaction, facts) => {
        const decision = steps.decide(facts);
        if (!(await steps.write(transaction, decision, facts))) throw steps.refusal();
        await this.record(transaction, write.actor, key.orgId, facts.revision, steps.event(decision));
        return steps.answer(decision);
      },
    });
  }

  private async record(
    transaction: Transaction,
    actor: Actor,
    orgId: string,
    orgRevision: number,
    event: MembershipEvent | undefined,
  ): Promise<void> {
    if (event) await this.events.record(transaction, { ...event, actor, orgId, orgRevision });
  }
}

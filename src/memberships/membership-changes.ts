import { Injectable } from '@nestjs/common';
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
  write: (transaction: Transaction, decision: Decision) => Promise<boolean>;
  /** the error for a refusal under the lock */
  refusal: () => Error;
  /** what the record says of it; undefined where nothing changed */
  event: (decision: Decision) => MembershipEvent | undefined;
  /** what goes with it, such as invitations, with their events */
  follow?: (transaction: Transaction, facts: Facts) => Promise<MembershipEvent[]>;
  /** the body */
  answer: (decision: Decision) => Answer;
}

type MembershipEvent = Pick<NewEvent, 'type' | 'userId' | 'data'>;

interface Decided<Facts, Decision> {
  orgId: string;
  /** of the organization, after the change */
  orgRevision: number;
  facts: Facts;
  decision: Decision;
}

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
    const { orgId } = key;
    const { revision } = facts;
    // Holds, too, if the organization is at that revision once it is locked.
    requireMatch(write, revision);
    const decision = steps.decide(facts);
    try {
      return await this.writes.run(write, async (transaction) => {
        if (!(await this.orgs.lockAt(transaction, orgId, revision))) throw new StaleDecisionError();
        const decided = { orgId, orgRevision: revision + 1, facts, decision };
        const isMade = await this.make(transaction, write, steps, decided);
        if (!isMade) throw new StaleDecisionError();
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
    const { orgId } = key;
    return this.orgWrites.run(write, orgId, {
      read: (transaction) => lookup.findIn(transaction, key),
      work: async (transaction, facts) => {
        const decision = steps.decide(facts);
        const decided = { orgId, orgRevision: facts.revision, facts, decision };
        const isMade = await this.make(transaction, write, steps, decided);
        if (!isMade) throw steps.refusal();
        return steps.answer(decision);
      },
    });
  }

  private async make<Facts, Decision>(
    transaction: Transaction,
    { actor }: Write,
    { write, event, follow }: Pick<MembershipChange<Facts, Decision, never>, 'write' | 'event' | 'follow'>,
    { orgId, orgRevision, facts, decision }: Decided<Facts, Decision>,
  ): Promise<boolean> {
    if (!(await write(transaction, decision))) return false;
    const changes = [event(decision) ?? [], (await follow?.(transaction, facts)) ?? []].flat();
    if (changes.length > 0) {
      const events = changes.map((made) => Object.assign(made, { actor, orgId, orgRevision }));
      await this.events.record(transaction, ...events);
    }
    return true;
  }
}

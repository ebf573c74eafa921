import { Injectable } from '@nestjs/common';
import type { Lookup } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { EventsRepository } from '../../record/events.repository.js';
import type { NewEvent } from '../../record/new-event.js';
import type { Write } from '../../requests/write.js';
import { OrgWrites } from '../org-writes.js';

export interface MembershipChange<Facts, Decision, Answer> {
  decide: (facts: Facts) => Decision;
  /** returns false when the database refused */
  write: (transaction: Transaction, decision: Decision) => Promise<boolean>;
  refusal: () => Error;
  /** event to record; undefined where nothing changed */
  event: (decision: Decision) => MembershipEvent | undefined;
  /** further changes, such as of invitations, with their events; a dry run leaves out these possibly many rows */
  follow?: (transaction: Transaction, facts: Facts) => Promise<MembershipEvent[]>;
  answer: (decision: Decision) => Answer;
}

type MembershipEvent = Pick<NewEvent, 'type' | 'userId' | 'data'>;

@Injectable()
export class MembershipChanges {
  constructor(
    private readonly orgWrites: OrgWrites,
    private readonly events: EventsRepository,
  ) {}

  run<Key extends { orgId: string }, Facts extends { revision: number }, Decision, Answer extends object>(
    write: Write,
    lookup: Lookup<Key, Facts>,
    key: Key,
    { decide, write: change, refusal, event, follow, answer }: MembershipChange<Facts, Decision, Answer>,
  ): Promise<Answer> {
    const { orgId } = key;
    return this.orgWrites.runDecided(write, orgId, {
      find: () => lookup.find(key),
      read: (transaction) => lookup.findIn(transaction, key),
      decide,
      work: async (transaction, facts, decision) => {
        if (!(await change(transaction, decision))) return undefined;
        const followed = write.dryRun ? undefined : await follow?.(transaction, facts);
        const made = [event(decision) ?? [], followed ?? []].flat();
        const of = { actor: write.actor, orgId, orgRevision: facts.revision };
        if (made.length > 0) {
          await this.events.record(transaction, ...made.map((one) => Object.assign(one, of)));
        }
        return answer(decision);
      },
      refusal,
    });
  }
}

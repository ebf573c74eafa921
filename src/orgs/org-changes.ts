import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import type { Problem } from '../problems/problem.js';
import { EventsRepository } from '../events/events.repository.js';
import type { EventType, EventWithout } from '../events/event-types.js';
import { requireMatch, type Versioned } from '../requests/entity-tags.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import { OrgNotFoundError } from './members/members.errors.js';
import { OrgsRepository } from './orgs.repository.js';

interface FactsLookup<Key, Facts> {
  find: (key: Key) => Promise<Facts | undefined>;
  findIn: (transaction: Transaction, key: Key) => Promise<Facts | undefined>;
}

/** The lookup of the facts that decide about a change of an organization, and the rule that decides. */
export interface Basis<Key, Facts, Decision> {
  orgId: string;
  lookup: FactsLookup<Key, Facts>;
  key: Key;
  /** throws what refuses the change; it has no effects, since it can be asked twice */
  decide: (facts: Facts) => Decision;
  /** the problem where there are no facts; by default there is no organization */
  missing?: () => Problem;
}

/** A change in its transaction: the organization is locked, and the facts hold until COMMIT. */
export interface OrgChange<Facts> {
  transaction: Transaction;
  /** `revision` is the one after the change */
  facts: Facts;
  /** Records events of this revision. Call it once, so that all of them have one time. */
  record: (...events: OrgEvent[]) => Promise<void>;
}

export type OrgEvent = EventWithout<
  'actor' | 'orgId' | 'orgRevision',
  EventType & `${'org' | 'member' | 'invitation'}.${string}`
>;

/** Changes rows, records events and returns the answer; it runs again where its transaction was rolled back. */
type Perform<Facts, Decision, Answer> = (change: OrgChange<Facts>, decision: Decision) => Promise<Answer>;

interface Decided<Facts, Decision> {
  facts: Facts;
  decision: Decision;
}

/** The database refuses what was decided, so the facts have changed in a way that the revision does not tell. */
export class RefusedByDatabaseError extends Error {
  /** @param problem answers if the database refuses again what was decided under the lock */
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** Makes every change of an organization that a user asks for. */
@Injectable()
export class OrgChanges {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly events: EventsRepository,
    private readonly writes: Writes,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Decides before anything is locked, and again under the lock where that decision does not hold any more.
   * @throws OrgNotFoundError, PreconditionFailedError
   */
  async run<Key, Facts extends { revision: number }, Decision, Answer extends object>(
    write: Write,
    basis: Basis<Key, Facts, Decision>,
    perform: Perform<Facts, Decision, Answer>,
  ): Promise<Versioned<Answer>> {
    const facts = required(await basis.lookup.find(basis.key), basis);
    requireMatch(write, facts.revision);
    const decided = { facts, decision: basis.decide(facts) };
    try {
      return await this.attempt(write, basis, perform, decided);
    } catch (error) {
      if (!(error instanceof RefusedByDatabaseError)) throw error;
    }
    try {
      return await this.attempt(write, basis, perform);
    } catch (error) {
      throw error instanceof RefusedByDatabaseError ? error.problem : error;
    }
  }

  /** For a change that no user asks for: locks the organization, and reads facts that hold until COMMIT. */
  async lock<Key, Facts>(
    transaction: Transaction,
    { orgId, lookup, key }: Pick<Basis<Key, Facts, unknown>, 'orgId' | 'lookup' | 'key'>,
  ): Promise<Facts | undefined> {
    const isThere = await this.orgs.lockEvenDeleted(transaction, orgId);
    return isThere ? lookup.findIn(transaction, key) : undefined;
  }

  private attempt<Key, Facts extends { revision: number }, Decision, Answer extends object>(
    write: Write,
    basis: Basis<Key, Facts, Decision>,
    perform: Perform<Facts, Decision, Answer>,
    decided?: Decided<Facts, Decision>,
  ): Promise<Versioned<Answer>> {
    const { actor } = write;
    const { orgId } = basis;
    return this.transactions.run(
      async (transaction) => {
        const { facts, decision } =
          (decided && (await this.lockAsDecided(transaction, orgId, decided))) ??
          (await this.decideUnderLock(transaction, write, basis));
        const { revision } = facts;
        const about = { actor, orgId, orgRevision: revision };
        const record = (...events: OrgEvent[]): Promise<void> =>
          this.events.record(transaction, ...events.map((event) => Object.assign(event, about)));
        const answer = await perform({ transaction, facts, record }, decision);
        return { answer: await this.writes.complete(transaction, write, answer), revision };
      },
      { principal: actor.id, row: orgId },
    );
  }

  /** The comparison with `If-Match` holds, too, if the organization is still at the revision. */
  private async lockAsDecided<Facts extends { revision: number }, Decision>(
    transaction: Transaction,
    orgId: string,
    { facts, decision }: Decided<Facts, Decision>,
  ): Promise<Decided<Facts, Decision> | undefined> {
    const { revision } = facts;
    const isLocked = await this.orgs.lockAt(transaction, orgId, revision);
    return isLocked ? { facts: { ...facts, revision: revision + 1 }, decision } : undefined;
  }

  private async decideUnderLock<Key, Facts extends { revision: number }, Decision>(
    transaction: Transaction,
    write: Write,
    basis: Basis<Key, Facts, Decision>,
  ): Promise<Decided<Facts, Decision>> {
    const facts = required(await this.lock(transaction, basis), basis);
    requireMatch(write, facts.revision - 1);
    return { facts, decision: basis.decide(facts) };
  }
}

function required<Facts>(
  facts: Facts | undefined,
  { missing = () => new OrgNotFoundError() }: Pick<Basis<unknown, unknown, unknown>, 'missing'>,
): Facts {
  if (facts === undefined) throw missing();
  return facts;
}

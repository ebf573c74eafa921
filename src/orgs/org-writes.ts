import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { requireMatch } from '../requests/entity-tags.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import { OrgNotFoundError } from './members/memberships.errors.js';
import { OrgsRepository } from './orgs.repository.js';

interface OrgWrite<Facts, Answer> {
  /** reads the facts under the lock; undefined if the organization no longer exists */
  read: (transaction: Transaction) => Promise<Facts | undefined>;
  /** includes a deleted organization: the facts say so, and decide */
  evenDeleted?: boolean;
  work: (transaction: Transaction, facts: Facts) => Promise<Answer>;
  /** changes that no answer shows, such as many rows: a dry run leaves them out */
  follow?: (transaction: Transaction, facts: Facts) => Promise<void>;
}

interface DecidedWrite<Facts, Decision, Answer> {
  /** reads the current facts, by a query that requests share */
  find: () => Promise<Facts | undefined>;
  /** reads the same facts under the lock */
  read: (transaction: Transaction) => Promise<Facts | undefined>;
  evenDeleted?: boolean;
  decide: (facts: Facts) => Decision;
  /** returns the body of the answer, or undefined if the database refused */
  work: (transaction: Transaction, facts: Facts, decision: Decision) => Promise<Answer | undefined>;
  /** error for a refusal by the database under the lock */
  refusal?: () => Error;
}

type NoteRevision = (revision: number) => void;

interface Asked {
  write: Write;
  orgId: string;
  note: NoteRevision;
}

/** The database refused what was decided: the facts have changed in a way that the revision does not tell. */
class StaleFactsError extends Error {}

/** Changes one organization under its lock. `facts` have the revision of the organization after the change. */
@Injectable()
export class OrgWrites {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly writes: Writes,
  ) {}

  /** @throws OrgNotFoundError, PreconditionFailedError */
  run<Facts extends { revision: number }, Answer extends object>(
    write: Write,
    orgId: string,
    orgWrite: OrgWrite<Facts, Answer>,
  ): Promise<Answer> {
    return tagged(write, (note) =>
      this.writes.run(write, orgId, (transaction) =>
        this.underLock(transaction, { write, orgId, note }, orgWrite),
      ),
    );
  }

  /**
   * Decides before anything is locked, and again under the lock if the revision has changed by then.
   * @throws OrgNotFoundError, PreconditionFailedError
   */
  async runDecided<Facts extends { revision: number }, Decision, Answer extends object>(
    write: Write,
    orgId: string,
    { find, read, evenDeleted = false, decide, work, refusal }: DecidedWrite<Facts, Decision, Answer>,
  ): Promise<Answer> {
    const facts = await find();
    if (!facts) throw new OrgNotFoundError();
    const { revision } = facts;
    // This holds, too, if the organization is at that revision once it is locked.
    requireMatch(write, revision);
    const decision = decide(facts);
    const again: OrgWrite<Facts, Answer> = {
      read,
      evenDeleted,
      work: async (transaction, latest) => {
        const answer = await work(transaction, latest, decide(latest));
        if (!answer) throw refusal?.() ?? new OrgNotFoundError();
        return answer;
      },
    };
    try {
      return await tagged(write, (note) =>
        this.writes.run(write, orgId, async (transaction) => {
          if (!(await this.orgs.lockAt(transaction, orgId, revision))) {
            return this.underLock(transaction, { write, orgId, note }, again);
          }
          note(revision + 1);
          const answer = await work(transaction, { ...facts, revision: revision + 1 }, decision);
          if (!answer) throw new StaleFactsError();
          return answer;
        }),
      );
    } catch (error) {
      if (!(error instanceof StaleFactsError)) throw error;
    }
    return this.run(write, orgId, again);
  }

  private async underLock<Facts extends { revision: number }, Answer>(
    transaction: Transaction,
    { write, orgId, note }: Asked,
    { read, evenDeleted = false, work, follow }: OrgWrite<Facts, Answer>,
  ): Promise<Answer> {
    const isLocked = await (evenDeleted
      ? this.orgs.lockEvenDeleted(transaction, orgId)
      : this.orgs.lock(transaction, orgId));
    const facts = isLocked ? await read(transaction) : undefined;
    if (!facts) throw new OrgNotFoundError();
    requireMatch(write, facts.revision - 1);
    note(facts.revision);
    const answer = await work(transaction, facts);
    if (!write.dryRun) await follow?.(transaction, facts);
    return answer;
  }
}

/** Tags the answer with the state after the change, once the change has taken effect. */
async function tagged<Answer>(
  { tagAnswer }: Write,
  run: (note: NoteRevision) => Promise<Answer>,
): Promise<Answer> {
  let changedTo: number | undefined;
  const answer = await run((revision) => {
    changedTo = revision;
  });
  if (changedTo !== undefined) tagAnswer?.(changedTo);
  return answer;
}

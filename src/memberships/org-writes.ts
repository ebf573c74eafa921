import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transaction.js';
import { requireMatch } from '../writes/entity-tags.js';
import type { Write } from '../writes/write.js';
import { Writes } from '../writes/writes.js';
import { OrgNotFoundError } from './memberships.errors.js';
import { OrgsRepository } from './orgs.repository.js';

interface OrgWrite<Facts, Answer> {
  /** what decides, read under the lock; undefined: there is no such organization any more */
  read: (transaction: Transaction) => Promise<Facts | undefined>;
  /** a deleted organization, too: the facts say so, and decide */
  evenDeleted?: boolean;
  /** returns the body of the answer */
  work: (transaction: Transaction, facts: Facts) => Promise<Answer>;
}

/** Changes of one organization, under its lock. */
@Injectable()
export class OrgWrites {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly writes: Writes,
  ) {}

  /**
   * @param read facts with the revision of the organization after the change
   * @throws OrgNotFoundError, PreconditionFailedError
   */
  run<Facts extends { revision: number }, Answer extends object>(
    write: Write,
    orgId: string,
    { read, evenDeleted = false, work }: OrgWrite<Facts, Answer>,
  ): Promise<Answer> {
    return this.writes.run(write, async (transaction) => {
      const isLocked = await (evenDeleted
        ? this.orgs.lockEvenDeleted(transaction, orgId)
        : this.orgs.lock(transaction, orgId));
      const facts = isLocked ? await read(transaction) : undefined;
      if (!facts) throw new OrgNotFoundError();
      requireMatch(write, facts.revision - 1);
      return work(transaction, facts);
    });
  }
}

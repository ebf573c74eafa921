import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { inBatches } from '../database/in-batches.js';
import { byColumn, Lookup, lookupStatement, places } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { Org } from './org.entity.js';

export interface OrgOfUser {
  userId: string;
  id: string;
  name: string;
}

/** LEFT preserves the join order where one user is in most organizations. */
const FIND_ORGS_OF_USERS = lookupStatement<string, OrgOfUser>('the organizations of a user', {
  sql: (size) => `SELECT m.user_id AS userId, o.id, o.name
    FROM members m LEFT JOIN orgs o ON o.id = m.org_id
    WHERE m.user_id IN (${places(size)}) AND o.deleted_at IS NULL
    ORDER BY m.user_id, m.joined_at, m.org_id`,
  ...byColumn('userId'),
});

@Injectable()
export class OrgsRepository {
  private readonly orgsOfUsers: Lookup<string, OrgOfUser>;

  constructor(@InjectRepository(Org) private readonly orgs: Repository<Org>) {
    this.orgsOfUsers = new Lookup(FIND_ORGS_OF_USERS, orgs);
  }

  async insert(transaction: Transaction, org: Pick<Org, 'id' | 'name' | 'createdAt'>): Promise<void> {
    // Measured hot: TypeORM takes longer to build this statement than the database to run it.
    await transaction.write('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, ?)', [
      org.id,
      org.name,
      org.createdAt,
    ]);
  }

  /** Locks the organization if it is at this revision: what was read at it, a deletion included, holds until COMMIT. */
  async lockAt(transaction: Transaction, id: string, revision: number): Promise<boolean> {
    const locked = await transaction.write(
      'UPDATE orgs SET revision = revision + 1 WHERE id = ? AND revision = ?',
      [id, revision],
    );
    return locked === 1;
  }

  // Comes first in every change of a membership, for exclusive access until COMMIT. A write, so that two changes
  // conflict on a multi-primary cluster too. Returns false if the organization is missing or deleted.
  async lock(transaction: Transaction, id: string): Promise<boolean> {
    const locked = await transaction.write(
      'UPDATE orgs SET revision = revision + 1 WHERE id = ? AND deleted_at IS NULL',
      [id],
    );
    return locked === 1;
  }

  /** Locks like `lock`, but also a deleted organization. */
  async lockEvenDeleted(transaction: Transaction, id: string): Promise<boolean> {
    const locked = await transaction.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [id]);
    return locked === 1;
  }

  findIn(transaction: Transaction, id: string): Promise<Org | null> {
    return transaction.of(this.orgs).findOneBy({ id });
  }

  /** Locks in one order for everybody, against deadlocks; also deleted ones, because they can be restored. */
  async lockAll(transaction: Transaction, ids: readonly string[]): Promise<void> {
    for await (const batch of inBatches(ids.toSorted())) {
      await transaction.write(
        `UPDATE orgs SET revision = revision + 1 WHERE id IN (${places(batch.length)})`,
        batch,
      );
    }
  }

  /** The caller holds the lock. */
  async rename(transaction: Transaction, id: string, name: string): Promise<void> {
    await transaction.of(this.orgs).update({ id }, { name });
  }

  findOfUser(userId: string): Promise<OrgOfUser[]> {
    return this.orgsOfUsers.findAll(userId);
  }
}

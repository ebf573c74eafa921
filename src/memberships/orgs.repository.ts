import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Lookup, lookupStatement, places } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { Org } from './org.entity.js';

/** An organization as the list of a user's organizations names it. */
export interface OrgOfUser {
  userId: string;
  id: string;
  name: string;
}

/** LEFT, as every membership has its organization, keeps the order of the join where one user is in most of them. */
const FIND_ORGS_OF_USERS = lookupStatement<string, OrgOfUser>('the organizations of a user', {
  sql: (size) => `SELECT m.user_id AS userId, o.id, o.name
    FROM members m LEFT JOIN orgs o ON o.id = m.org_id
    WHERE m.user_id IN (${places(size)})
    ORDER BY m.user_id, m.joined_at, m.org_id`,
  values: (userIds) => [...userIds],
  keyText: (userId) => userId,
  rowText: ({ userId }) => userId,
  nobody: '',
});

@Injectable()
export class OrgsRepository {
  private readonly orgsOfUsers: Lookup<string, OrgOfUser>;

  constructor(@InjectRepository(Org) orgs: Repository<Org>) {
    this.orgsOfUsers = new Lookup(FIND_ORGS_OF_USERS, orgs);
  }

  async insert(transaction: Transaction, org: Pick<Org, 'id' | 'name' | 'createdAt'>): Promise<void> {
    // Measured hot: TypeORM's own call takes longer to write it than the database to run it.
    await transaction.write('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, ?)', [
      org.id,
      org.name,
      org.createdAt,
    ]);
  }

  /**
   * As `lock`, and true only if the organization is at this revision: what was read at it holds until COMMIT.
   */
  async lockAt(transaction: Transaction, id: string, revision: number): Promise<boolean> {
    const locked = await transaction.write(
      'UPDATE orgs SET revision = revision + 1 WHERE id = ? AND revision = ?',
      [id, revision],
    );
    return locked === 1;
  }

  /**
   * `lockAt` or this has to be the first statement of every change of a membership: the write takes an exclusive lock
   * on the organization's row, so nobody else changes its memberships until COMMIT. A write and not only a lock, so
   * that two changes of one organization conflict on a multi-primary cluster too. False when there is none.
   */
  async lock(transaction: Transaction, id: string): Promise<boolean> {
    const locked = await transaction.write('UPDATE orgs SET revision = revision + 1 WHERE id = ?', [id]);
    return locked === 1;
  }

  /** By the time the user joined them, then by id. */
  findOfUser(userId: string): Promise<OrgOfUser[]> {
    return this.orgsOfUsers.findAll(userId);
  }
}

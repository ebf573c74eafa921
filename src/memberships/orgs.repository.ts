import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { hotStatement } from '../database/hot-statements.js';
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

/**
 * NULL while the user `u` may join one more organization; it reads no further than to the limit. It holds until COMMIT
 * where the same statement locks the row of `u`, for whoever joins takes that lock first.
 */
export function orgAtLimit(maxOrgs: number): string {
  return `(SELECT x.org_id FROM members x WHERE x.user_id = u.id LIMIT 1 OFFSET ${maxOrgs - 1})`;
}

/** Where an organization comes from: the user who creates it, unless he is at the limit. */
const fromCreator = (maxOrgs: number): string =>
  `FROM users u WHERE u.id = ? AND ${orgAtLimit(maxOrgs)} IS NULL`;
hotStatement('the limit of who creates an organization', `SELECT u.id ${fromCreator(5000)}`, ['']);

@Injectable()
export class OrgsRepository {
  private readonly orgsOfUsers: Lookup<string, OrgOfUser>;

  constructor(@InjectRepository(Org) orgs: Repository<Org>) {
    this.orgsOfUsers = new Lookup(FIND_ORGS_OF_USERS, orgs);
  }

  /**
   * The database decides whether its creator is there and below the limit: false if not. Locks his row, so that both
   * hold until COMMIT.
   */
  async insert(
    transaction: Transaction,
    { id, name, createdAt }: Pick<Org, 'id' | 'name' | 'createdAt'>,
    creatorId: string,
    maxOrgs: number,
  ): Promise<boolean> {
    const inserted = await transaction.write(
      `INSERT INTO orgs (id, name, revision, created_at)
       SELECT ?, ?, 1, ? ${fromCreator(maxOrgs)}${transaction.forUpdate}`,
      [id, name, createdAt, creatorId],
    );
    return inserted === 1;
  }

  /**
   * Has to be the first statement of every change of a membership: the write takes an exclusive lock on the
   * organization's row, so nobody else changes its memberships until COMMIT. A write and not only a lock, so that
   * two changes of one organization conflict on a multi-primary cluster too. False when there is none.
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

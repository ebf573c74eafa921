import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { CurrentOrg } from '../access/current-org.decorator.js';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { Env } from '../config/env.js';
import { BatchedQueries, forEachSize, MOST_IN_ONE, padded } from '../database/batched-queries.js';
import type { Transaction } from '../database/transaction.js';
import { Transactions } from '../database/transactions.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { MemberListService } from '../members/member-list.service.js';
import { MembersService } from '../members/members.service.js';
import { orgAtLimit } from '../members/org-limit.js';
import { wholeList } from '../members/whole-list.js';
import type { OrgDetailResponse, OrgResponse } from './dto/org.responses.js';
import { Org } from './org.entity.js';
import { TooManyOrgsError } from './orgs.errors.js';

interface OrgOfUser extends OrgResponse {
  userId: string;
}

/**
 * By the time each user joined them, then by id. LEFT, as every membership has its organization, keeps the
 * order of the join where one user is in most of them.
 *
 * @param size how many users one query asks for
 */
export const listOrgsOfUsers = forEachSize(
  (size) => `SELECT m.user_id AS userId, o.id, o.name
  FROM members m LEFT JOIN orgs o ON o.id = m.org_id
  WHERE m.user_id IN (${Array(size).fill('?').join(', ')})
  ORDER BY m.user_id, m.joined_at, m.org_id`,
);

/** Where an organization comes from: the user who creates it, unless he is at the limit. */
export function fromCreator(maxOrgs: number): string {
  return `FROM users u WHERE u.id = ? AND ${orgAtLimit(maxOrgs)} IS NULL`;
}

/** so many rows one query for several users may bring */
const ROWS_IN_ONE = 2000;

@Injectable()
export class OrgsService {
  private readonly orgsOfUsers = new BatchedQueries(
    (userIds: string[]) => this.listOfAll(userIds),
    () => Math.max(1, Math.min(MOST_IN_ONE, Math.floor(ROWS_IN_ONE / this.rowsPerUser))),
  );
  /** in the last answer: what users have in common with those who asked just before */
  private rowsPerUser = 1;

  constructor(
    @InjectRepository(Org) private readonly orgs: Repository<Org>,
    private readonly members: MembersService,
    private readonly memberList: MemberListService,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /**
   * Takes a name as `orgName` makes it; the creator becomes the owner in the same transaction.
   *
   * @throws TooManyOrgsError, or InvalidTokenError when the user went away since the request began
   */
  create(ownerId: string, name: string): Promise<OrgResponse> {
    const org = { id: newEntityId(), name };
    return this.transactions.run(async (transaction) => {
      await this.insert(transaction, org, ownerId);
      await this.members.insert(transaction, org.id, ownerId, 'owner');
      return org;
    });
  }

  private async insert(transaction: Transaction, { id, name }: OrgResponse, ownerId: string): Promise<void> {
    const { maxOrgsPerUser } = this.env;
    const inserted = await transaction.write(
      `INSERT INTO orgs (id, name, revision, created_at)
       SELECT ?, ?, 1, ? ${fromCreator(maxOrgsPerUser)}${transaction.forUpdate}`,
      [id, name, Date.now(), ownerId],
    );
    if (inserted > 0) return;
    const [user] = await transaction.read<unknown>('SELECT id FROM users WHERE id = ?', [ownerId]);
    throw user === undefined ? new InvalidTokenError() : new TooManyOrgsError(maxOrgsPerUser);
  }

  /** @param sessionId of the reader */
  getDetail({ id, name }: CurrentOrg, sessionId: string): Promise<OrgDetailResponse> {
    return wholeList(this.memberList, { orgId: id, sessionId }, (members) => ({
      org: { id, name, members },
    }));
  }

  /** By the time the user joined them, then by id. */
  listOf(userId: string): Promise<OrgResponse[]> {
    return this.orgsOfUsers.run(userId);
  }

  private async listOfAll(userIds: string[]): Promise<OrgResponse[][]> {
    const values = padded([...new Set(userIds)], '');
    const rows = await this.orgs.query<OrgOfUser[]>(listOrgsOfUsers(values.length), values);
    this.rowsPerUser = Math.max(1, rows.length / userIds.length);
    const byUser = Map.groupBy(rows, ({ userId }) => userId);
    return userIds.map((userId) => (byUser.get(userId) ?? []).map(({ id, name }) => ({ id, name })));
  }
}

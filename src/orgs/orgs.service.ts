import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { CurrentOrg } from '../access/current-org.decorator.js';
import { BatchedQueries, forEachSize, padded } from '../database/batched-queries.js';
import { Transactions } from '../database/transactions.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { MemberListService } from '../members/member-list.service.js';
import { MembersService } from '../members/members.service.js';
import { wholeList } from '../members/whole-list.js';
import type { OrgDetailResponse, OrgResponse } from './dto/org.responses.js';
import { Org } from './org.entity.js';

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

@Injectable()
export class OrgsService {
  private readonly orgsOfUsers = new BatchedQueries((userIds: string[]) => this.listOfAll(userIds));

  constructor(
    @InjectRepository(Org) private readonly orgs: Repository<Org>,
    private readonly members: MembersService,
    private readonly memberList: MemberListService,
    private readonly transactions: Transactions,
  ) {}

  /** Takes a name as `orgName` makes it; the creator becomes the owner in the same transaction. */
  create(ownerId: string, name: string): Promise<OrgResponse> {
    const org = { id: newEntityId(), name };
    return this.transactions.run(async (transaction) => {
      await transaction.write('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, ?)', [
        org.id,
        org.name,
        Date.now(),
      ]);
      await this.members.insert(transaction, org.id, ownerId, 'owner');
      return org;
    });
  }

  getDetail({ id, name }: CurrentOrg): Promise<OrgDetailResponse> {
    return wholeList(this.memberList, id, (members) => ({ org: { id, name, members } }));
  }

  /** By the time the user joined them, then by id. */
  listOf(userId: string): Promise<OrgResponse[]> {
    return this.orgsOfUsers.run(userId);
  }

  private async listOfAll(userIds: string[]): Promise<OrgResponse[][]> {
    const values = padded([...new Set(userIds)], '');
    const rows = await this.orgs.query<OrgOfUser[]>(listOrgsOfUsers(values.length), values);
    const byUser = Map.groupBy(rows, ({ userId }) => userId);
    return userIds.map((userId) => (byUser.get(userId) ?? []).map(({ id, name }) => ({ id, name })));
  }
}

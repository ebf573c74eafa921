import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { CurrentOrg } from '../access/current-org.decorator.js';
import { Transactions } from '../database/transactions.js';
import { newEntityId } from '../identifiers/entity-id.js';
import { MembersService } from '../members/members.service.js';
import type { OrgDetail, OrgResponse } from './dto/org.responses.js';
import { orgName } from './org-name.js';
import { Org } from './org.entity.js';

export const LIST_ORGS_OF_USER = `SELECT o.id, o.name
  FROM members m JOIN orgs o ON o.id = m.org_id
  WHERE m.user_id = ? ORDER BY m.joined_at, m.org_id`;

@Injectable()
export class OrgsService {
  constructor(
    @InjectRepository(Org) private readonly orgs: Repository<Org>,
    private readonly members: MembersService,
    private readonly transactions: Transactions,
  ) {}

  /** Takes a name that passed validation; the creator becomes the owner in the same transaction. */
  create(ownerId: string, rawName: string): Promise<OrgResponse> {
    const org = { id: newEntityId(), name: orgName(rawName)! };
    return this.transactions.run(async (manager) => {
      await manager.query('INSERT INTO orgs (id, name, revision, created_at) VALUES (?, ?, 1, ?)', [
        org.id,
        org.name,
        Date.now(),
      ]);
      await this.members.insert(manager, org.id, ownerId, 'owner');
      return org;
    });
  }

  async getDetail(org: CurrentOrg): Promise<OrgDetail> {
    return { id: org.id, name: org.name, members: await this.members.list(org.id) };
  }

  /** By the time the user joined them, then by id. */
  listOf(userId: string): Promise<OrgResponse[]> {
    return this.orgs.query(LIST_ORGS_OF_USER, [userId]);
  }
}

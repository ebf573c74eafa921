import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../access/role.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { Member } from './member.entity.js';

/** An organization as one user sees it. */
export interface Membership {
  orgId: string;
  orgName: string;
  /** null: not a member */
  role: Role | null;
}

export const FIND_MEMBERSHIP = `SELECT o.id AS orgId, o.name AS orgName, m.role
  FROM orgs o LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ?
  WHERE o.id = ?`;

@Injectable()
export class MembershipsService {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  /** undefined: there is no such organization */
  async find(orgId: string, userId: string): Promise<Membership | undefined> {
    if (!isEntityId(orgId)) return undefined;
    const rows = await this.members.query<Membership[]>(FIND_MEMBERSHIP, [userId, orgId]);
    return rows[0];
  }
}

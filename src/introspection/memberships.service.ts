import { Injectable } from '@nestjs/common';
import { cutPage, encodeCursor, limitOf, type LinkNextPage, positionOf } from '../http/pages.js';
import type { ListMembershipsQuery } from './memberships.requests.js';
import type { MembershipListResult } from './memberships.responses.js';
import { type ListedMembership, Memberships } from '../orgs/state/members.memberships.js';

@Injectable()
export class MembershipsService {
  constructor(private readonly memberships: Memberships) {}

  async list(query: ListMembershipsQuery, linkNextPage: LinkNextPage): Promise<MembershipListResult> {
    const limit = limitOf(query);
    const rows = await this.find(query, limit + 1);
    const place = query.orgId === undefined ? 'orgId' : 'userId';
    const cursorOf = (last: ListedMembership): string =>
      encodeCursor({ order: last.joinedAt, id: last[place] });
    const { page, next } = cutPage(rows, limit, cursorOf, linkNextPage);
    const memberships = page.map(({ orgId, userId, role, orgRevision }) => ({
      orgId,
      userId,
      role,
      orgRevision,
    }));
    return { memberships, ...next };
  }

  private async find(query: ListMembershipsQuery, limit: number): Promise<ListedMembership[]> {
    const { orgId, userId } = query;
    if (orgId === undefined) return this.memberships.listOfUser(userId!, limit, positionOf(query));
    if (userId === undefined) return this.memberships.listOfOrg(orgId, limit, positionOf(query));
    return this.memberships.findOne(orgId, userId);
  }
}

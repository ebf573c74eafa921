import { Injectable } from '@nestjs/common';
import { isEntityId } from '../../identifiers/entity-id.js';
import { MemberLists } from '../state/members.lists.js';
import { MemberNotFoundError } from '../state/orgs.errors.js';
import { cutPage, decodeTextCursor, encodeTextCursor, limitOf, type LinkNextPage } from '../../http/pages.js';
import type { ListMembersQuery } from './members.requests.js';
import type { MemberDetailResult, MembersResult } from './members.responses.js';

const ME = 'me';

@Injectable()
export class MemberSearchService {
  constructor(private readonly members: MemberLists) {}

  async find(orgId: string, query: ListMembersQuery, linkNextPage: LinkNextPage): Promise<MembersResult> {
    const { search: prefix = '', role, cursor } = query;
    const after = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const limit = limitOf(query);
    const rows = await this.members.search({ orgId, prefix, role, after }, limit + 1);
    const { page, next } = cutPage(rows, limit, ({ email }) => encodeTextCursor(email), linkNextPage);
    return { members: page, ...next };
  }

  async getOne(orgId: string, idOrMe: string, callerId: string): Promise<MemberDetailResult> {
    const userId = idOrMe === ME ? callerId : idOrMe;
    const member = isEntityId(userId) ? await this.members.findOne(orgId, userId) : undefined;
    if (!member) throw new MemberNotFoundError();
    return { member: { ...member, joinedAt: new Date(member.joinedAt).toISOString() } };
  }
}

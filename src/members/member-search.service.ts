import { Injectable } from '@nestjs/common';
import { isEntityId } from '../identifiers/entity-id.js';
import { MemberSearchRepository } from '../memberships/member-search.repository.js';
import { MemberNotFoundError } from '../memberships/memberships.errors.js';
import { decodeTextCursor, encodeTextCursor } from '../pagination/cursor.js';
import type { LinkNextPage } from '../pagination/next-page.decorator.js';
import { DEFAULT_FOUND, type ListMembersQuery } from './dto/list-members.query.js';
import type { MemberDetailResult, MembersResult } from './dto/member.responses.js';

/** The caller, in place of a user id. */
const ME = 'me';

@Injectable()
export class MemberSearchService {
  constructor(private readonly members: MemberSearchRepository) {}

  async find(
    orgId: string,
    { search = '', role, limit, cursor }: ListMembersQuery,
    linkNextPage: LinkNextPage,
  ): Promise<MembersResult> {
    const after = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const size = limit === undefined ? DEFAULT_FOUND : Number(limit);
    const rows = await this.members.find({ orgId, prefix: search, role, after }, size + 1);
    const members = rows.slice(0, size);
    const last = members.at(-1);
    if (rows.length <= size || !last) return { members };
    const nextCursor = encodeTextCursor(last.email);
    linkNextPage(nextCursor);
    return { members, nextCursor };
  }

  /** @throws MemberNotFoundError */
  async getOne(orgId: string, idOrMe: string, callerId: string): Promise<MemberDetailResult> {
    const userId = idOrMe === ME ? callerId : idOrMe;
    const member = isEntityId(userId) ? await this.members.findOne(orgId, userId) : undefined;
    if (!member) throw new MemberNotFoundError();
    return { member: { ...member, joinedAt: new Date(member.joinedAt).toISOString() } };
  }
}

import { Injectable, type StreamableFile } from '@nestjs/common';
import { MemberListRepository, type Reader } from '../memberships/member-list.repository.js';
import { WholeLists } from '../memberships/whole-lists.js';
import { decodeCursor, encodeCursor } from '../pagination/cursor.js';
import type { LinkNextPage } from '../pagination/next-page.decorator.js';
import { isSearch, type ListMembersQuery } from './dto/list-members.query.js';
import type { MembersResult } from './dto/member.responses.js';
import { MemberSearchService } from './member-search.service.js';

@Injectable()
export class MemberListService {
  constructor(
    private readonly members: MemberListRepository,
    private readonly search: MemberSearchService,
    private readonly wholeLists: WholeLists,
  ) {}

  async answer(
    reader: Reader,
    query: ListMembersQuery,
    linkNextPage: LinkNextPage,
  ): Promise<MembersResult | StreamableFile> {
    if (isSearch(query)) return this.search.find(reader.orgId, query, linkNextPage);
    const { limit, cursor } = query;
    if (limit === undefined) return this.wholeLists.answer(reader, (members) => ({ members }));
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const { members, next } = await this.members.findPage(reader.orgId, Number(limit), after);
    if (!next) return { members };
    const nextCursor = encodeCursor(next);
    linkNextPage(nextCursor);
    return { members, nextCursor };
  }
}

import { Injectable, type StreamableFile } from '@nestjs/common';
import { MemberListRepository, type Reader } from './member-list.repository.js';
import { WholeLists } from './whole-lists.js';
import { encodeCursor, limitOf, linkNext, type LinkNextPage, positionOf } from '../../http/pages.js';
import { isSearch, type ListMembersQuery } from './members.requests.js';
import type { MembersResult } from './members.responses.js';
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
    if (query.limit === undefined) return this.wholeLists.answer(reader, (members) => ({ members }));
    const { members, next } = await this.members.findPage(reader.orgId, limitOf(query), positionOf(query));
    return { members, ...linkNext(next && encodeCursor(next), linkNextPage) };
  }
}

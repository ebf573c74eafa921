import { Injectable, type StreamableFile } from '@nestjs/common';
import type { CurrentOrg } from '../../http/request-origin.js';
import { encodeCursor, limitOf, linkNext, type LinkNextPage, positionOf } from '../../http/pages.js';
import { isSearch, type ListMembersQuery } from './members.requests.js';
import type { MemberDetailResult, MembersResult } from './members.responses.js';
import type { UserPrincipal } from '../../access/principal.js';
import { MemberLists } from '../state/members.lists.js';
import { WholeLists } from './whole-lists.js';
import { MemberSearchService } from './member-search.service.js';

@Injectable()
export class MemberListService {
  constructor(
    private readonly members: MemberLists,
    private readonly search: MemberSearchService,
    private readonly wholeLists: WholeLists,
  ) {}

  async answer(
    org: CurrentOrg,
    { id: userId, sessionId }: UserPrincipal,
    query: ListMembersQuery,
    linkNextPage: LinkNextPage,
  ): Promise<MembersResult | StreamableFile> {
    const reader = { orgId: org.id, userId, sessionId };
    if (isSearch(query)) {
      const found = await this.search.find(org.id, query, linkNextPage);
      await this.wholeLists.requireReader(reader);
      return found;
    }
    if (query.limit === undefined) {
      const { answer } = await this.wholeLists.answer(reader, org, ({ members }) => ({ members }));
      return answer;
    }
    const page = await this.members.findPageFor(reader, limitOf(query), positionOf(query));
    if (!page) throw await this.wholeLists.refusalOf(reader);
    const { members, next } = page;
    return { members, ...linkNext(next && encodeCursor(next), linkNextPage) };
  }

  async getOne(
    orgId: string,
    idOrMe: string,
    { id: userId, sessionId }: UserPrincipal,
  ): Promise<MemberDetailResult> {
    const found = this.search.getOne(orgId, idOrMe, userId);
    await found.catch(() => undefined);
    await this.wholeLists.requireReader({ orgId, userId, sessionId });
    return found;
  }
}

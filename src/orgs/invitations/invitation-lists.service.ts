import { Injectable } from '@nestjs/common';
import { InvitationLists, type InvitationRange } from '../state/invitations.lists.js';
import { cutPage, encodeCursor, limitOf, type LinkNextPage, positionOf } from '../../http/pages.js';
import type { InvitationPage, OwnInvitationPage } from './invitations.responses.js';
import type { ListInvitationsQuery, ListOwnInvitationsQuery } from './invitations.requests.js';
import { listedInvitation, receivedInvitation } from './invitation-views.js';

@Injectable()
export class InvitationListsService {
  constructor(private readonly invitations: InvitationLists) {}

  listOfOrg(orgId: string, query: ListInvitationsQuery, linkNextPage: LinkNextPage): Promise<InvitationPage> {
    return pageOf(query, linkNextPage, async (page) => {
      const found = await this.invitations.findOfOrg(orgId, query.status, page);
      return found.map(listedInvitation);
    });
  }

  listOfUser(
    userId: string,
    query: ListOwnInvitationsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<OwnInvitationPage> {
    return pageOf(query, linkNextPage, async (page) => {
      const found = await this.invitations.findReceived(userId, page);
      return found.map(receivedInvitation);
    });
  }
}

async function pageOf<Item extends { id: string }>(
  query: ListOwnInvitationsQuery,
  linkNextPage: LinkNextPage,
  read: (page: InvitationRange) => Promise<Item[]>,
): Promise<{ invitations: Item[]; nextCursor?: string }> {
  const limit = limitOf(query);
  const found = await read({ now: Date.now(), limit: limit + 1, beforeId: positionOf(query)?.id });
  const { page, next } = cutPage(found, limit, ({ id }) => encodeCursor({ order: 0, id }), linkNextPage);
  return { invitations: page, ...next };
}

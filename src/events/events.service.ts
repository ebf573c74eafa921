import { Injectable } from '@nestjs/common';
import {
  encodeCursor,
  type FilteredPage,
  filteredPage,
  limitOf,
  linkNext,
  type LinkNextPage,
  type NextCursor,
  type Position,
  positionOf,
} from '../http/pages.js';
import { orgEvent, ownEvent } from './event-views.js';
import type { Event } from './event.entity.js';
import type { ListEventsQuery, ListOrgEventsQuery } from './events.query.js';
import { EventsRepository } from './events.repository.js';
import type { OrgEventsResult, OwnEventsResult } from './events.responses.js';

/** Lists of the audit log. */
@Injectable()
export class EventsService {
  constructor(private readonly events: EventsRepository) {}

  async listOfOrg(
    orgId: string,
    query: ListOrgEventsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<OrgEventsResult> {
    const { userId } = query;
    const start = positionOf(query);
    const page = await filteredPage<Event>(filterOf(query), (size, after) => {
      const before = after ? placeOf(after) : start;
      return userId === undefined
        ? this.events.findOfOrg(orgId, size, before)
        : this.events.findOfMember(orgId, userId, size, before);
    });
    return { events: page.rows.map(orgEvent), ...nextOf(page, linkNextPage) };
  }

  async listOfUser(
    userId: string,
    query: ListEventsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<OwnEventsResult> {
    const start = positionOf(query)?.id;
    const page = await filteredPage<Event>(filterOf(query), (size, after) =>
      this.events.findOfUser(userId, size, after?.id ?? start),
    );
    return { events: page.rows.map(ownEvent), ...nextOf(page, linkNextPage) };
  }
}

function filterOf(query: ListEventsQuery) {
  const { type } = query;
  return { limit: limitOf(query), isWanted: (event: Event) => type === undefined || event.type === type };
}

/** Events of a user that have no organization are ordered by id. */
function placeOf({ orgRevision, id }: Event): Position {
  return { order: orgRevision ?? 0, id };
}

function nextOf({ last }: FilteredPage<Event>, linkNextPage: LinkNextPage): NextCursor {
  return linkNext(last && encodeCursor(placeOf(last)), linkNextPage);
}

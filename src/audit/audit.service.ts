import { Injectable } from '@nestjs/common';
import { EventsRepository } from '../events/events.repository.js';
import type { LinkNextPage } from '../http/next-page.decorator.js';
import type { OrgEventsResult, OwnEventsResult } from './dto/event.responses.js';
import type { ListEventsQuery, ListOrgEventsQuery } from './dto/list-events.query.js';
import { decodeCursor, encodeCursor } from './event-cursor.js';
import { orgEvent, ownEvent } from './event-views.js';
import { type EventPage, pageOf } from './page-of.js';

const DEFAULT_LIMIT = '100';

/** Reads the record of changes, the latest first. */
@Injectable()
export class AuditService {
  constructor(private readonly events: EventsRepository) {}

  async listOfOrg(
    orgId: string,
    query: ListOrgEventsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<OrgEventsResult> {
    const { userId } = query;
    const start = cursorOf(query);
    const page = await pageOf(filterOf(query), (size, after) => {
      const before = after ? { orgRevision: after.orgRevision ?? 0, id: after.id } : start;
      return userId === undefined
        ? this.events.findOfOrg(orgId, size, before)
        : this.events.findOfMember(orgId, userId, size, before);
    });
    return { events: page.events.map(orgEvent), ...nextOf(page, linkNextPage) };
  }

  async listOfUser(
    userId: string,
    query: ListEventsQuery,
    linkNextPage: LinkNextPage,
  ): Promise<OwnEventsResult> {
    const start = cursorOf(query)?.id;
    const page = await pageOf(filterOf(query), (size, after) =>
      this.events.findOfUser(userId, size, after?.id ?? start),
    );
    return { events: page.events.map(ownEvent), ...nextOf(page, linkNextPage) };
  }
}

function filterOf({ limit = DEFAULT_LIMIT, type }: ListEventsQuery) {
  return { limit: Number(limit), type };
}

function cursorOf({ cursor }: ListEventsQuery) {
  return cursor === undefined ? undefined : decodeCursor(cursor);
}

function nextOf({ last }: EventPage, linkNextPage: LinkNextPage): { nextCursor?: string } {
  if (!last) return {};
  const nextCursor = encodeCursor({ orgRevision: last.orgRevision ?? 0, id: last.id });
  linkNextPage(nextCursor);
  return { nextCursor };
}

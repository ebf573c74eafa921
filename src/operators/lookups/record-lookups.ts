import { Injectable } from '@nestjs/common';
import { firstEntityIdAt } from '../../identifiers/entity-id.js';
import {
  encodeCursor,
  limitOf,
  linkNext,
  type LinkNextPage,
  type Position,
  positionOf,
} from '../../http/pages.js';
import { filteredPage } from '../../http/filtered-page.js';
import type { Event } from '../../events/event.entity.js';
import { wholeEvent } from '../../events/event-views.js';
import { EventsRepository } from '../../events/events.repository.js';
import type { ListRecordQuery } from './dto/list-record.query.js';
import type { RecordResult } from './dto/record-lookup.responses.js';

type Read = (size: number, before: Position | undefined) => Promise<Event[]>;

/** Clocks of instances differ by less: no event of an organization is older by so much than one of a revision before. */
const MAX_CLOCK_SKEW_MS = 3_600_000;

/** greater than any id */
const LATEST = 'g';

@Injectable()
export class RecordLookups {
  constructor(private readonly events: EventsRepository) {}

  async list(query: ListRecordQuery, linkNextPage: LinkNextPage): Promise<RecordResult> {
    const { type, orgId, since = 0, until } = query;
    const from = firstEntityIdAt(since);
    const before = until === undefined ? LATEST : firstEntityIdAt(until);
    const earliest = orgId === undefined ? from : firstEntityIdAt(since - MAX_CLOCK_SKEW_MS);
    const filter = {
      limit: limitOf(query),
      isWanted: (event: Event): boolean =>
        (type === undefined || event.type === type) && event.id >= from && event.id < before,
      isBeyond: ({ id }: Event): boolean => id < earliest,
    };
    const read = this.reader(query, { from, before });
    const start = positionOf(query);
    const { rows, last } = await filteredPage<Event>(filter, (size, after) =>
      read(size, after ? placeOf(after) : start),
    );
    return { events: rows.map(wholeEvent), ...linkNext(last && encodeCursor(placeOf(last)), linkNextPage) };
  }

  /** The latest come first: by the organization's revision if one is named, else by id, and so by time. */
  private reader({ orgId, userId }: ListRecordQuery, window: { from: string; before: string }): Read {
    const idBefore = (place: Position | undefined): string =>
      place && place.id < window.before ? place.id : window.before;
    if (orgId !== undefined && userId !== undefined)
      return (size, place) => this.events.findOfMember(orgId, userId, size, place);
    if (orgId !== undefined) return (size, place) => this.events.findOfOrg(orgId, size, place);
    if (userId !== undefined) return (size, place) => this.events.findOfUser(userId, size, idBefore(place));
    return (size, place) => this.events.findBetween(window.from, idBefore(place), size);
  }
}

/** Events without an organization are ordered by id. */
function placeOf({ orgRevision, id }: Event): Position {
  return { order: orgRevision ?? 0, id };
}

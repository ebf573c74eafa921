import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operators } from '../access/access.decorators.js';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { ApiPage } from '../http/fields.js';
import {
  encodeCursor,
  filteredPage,
  limitOf,
  linkNext,
  type LinkNextPage,
  NextPage,
  type Position,
  positionOf,
} from '../http/pages.js';
import type { Event } from '../events/event.entity.js';
import { wholeEvent } from '../events/event-views.js';
import { EventsRepository } from '../events/events.repository.js';
import { ListRecordQuery } from './operators.query.js';
import { RecordResult } from './operators.responses.js';

/** Clocks of instances differ by less: no event of an organization is older by so much than one of a revision before. */
const MAX_CLOCK_SKEW_MS = 3_600_000;

/** greater than any id */
const LATEST = 'g';

@ApiTags('Operators')
@Controller('api/operators/events')
export class OperatorEventsController {
  constructor(private readonly events: EventsRepository) {}

  /**
   * Read the audit log
   *
   * @remarks Lists who changed what, latest first, in pages, with the addresses of clients and the reasons that operators
   * gave. `userId` and `orgId` may be ids of what was deleted: the record still knows it.
   */
  @Get()
  @Operators()
  @ApiPage(RecordResult)
  async listRecord(
    @Query() query: ListRecordQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<RecordResult> {
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
    const start = positionOf(query);
    const { rows, last } = await filteredPage<Event>(filter, (size, after) =>
      this.findBefore(after ? placeOf(after) : start, query, { from, before }, size),
    );
    return { events: rows.map(wholeEvent), ...linkNext(last && encodeCursor(placeOf(last)), linkNextPage) };
  }

  /** Reads the latest first: by the organization's revision if one is named, else by id, and so by time. */
  private findBefore(
    place: Position | undefined,
    { orgId, userId }: ListRecordQuery,
    { from, before }: { from: string; before: string },
    size: number,
  ): Promise<Event[]> {
    if (orgId !== undefined && userId !== undefined)
      return this.events.findOfMember(orgId, userId, size, place);
    if (orgId !== undefined) return this.events.findOfOrg(orgId, size, place);
    const idBefore = place && place.id < before ? place.id : before;
    if (userId !== undefined) return this.events.findOfUser(userId, size, idBefore);
    return this.events.findBetween(from, idBefore, size);
  }
}

/** Events without an organization are ordered by id. */
function placeOf({ orgRevision, id }: Event): Position {
  return { order: orgRevision ?? 0, id };
}

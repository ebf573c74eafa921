import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { EVENT_TYPES, type EventType } from './event-types.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { DEFAULT_LIMIT } from '../pagination/page.js';
import { PageCursor, PageLimit } from '../pagination/page-query.decorators.js';

export class ListEventsQuery {
  @ApiProperty({
    enum: EVENT_TYPES,
    enumName: 'EventType',
    required: false,
    description:
      'type of the events to list; the search for a page ends after five times `limit` events, so a page can be empty ' +
      'although a next one exists',
  })
  @ValidateIf((query: ListEventsQuery) => query.type !== undefined)
  @IsIn(EVENT_TYPES, { message: 'must be an event type' })
  type?: EventType;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of events on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}

export class ListOrgEventsQuery extends ListEventsQuery {
  @ApiProperty({ format: 'uuid', required: false, description: 'user whose events are listed' })
  @ValidateIf((query: ListOrgEventsQuery) => query.userId !== undefined)
  @ValidateBy({
    name: 'isEntityId',
    validator: { validate: isEntityId, defaultMessage: () => 'must be the id of a user' },
  })
  userId?: string;
}

import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { EVENT_TYPES, type EventType } from '../event-types.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { DEFAULT_LIMIT } from '../../pagination/page.js';
import { PageCursor, PageLimit } from '../../pagination/page-query.decorators.js';

export class ListEventsQuery {
  @ApiProperty({
    enum: EVENT_TYPES,
    enumName: 'EventType',
    required: false,
    description:
      'events of this type only: a page is then made of five times `limit` events, and can be empty and have a next one',
  })
  @ValidateIf((query: ListEventsQuery) => query.type !== undefined)
  @IsIn(EVENT_TYPES, { message: 'must be a type of event' })
  type?: EventType;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'events on a page, at most' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}

export class ListOrgEventsQuery extends ListEventsQuery {
  @ApiProperty({ format: 'uuid', required: false, description: 'events about this user only' })
  @ValidateIf((query: ListOrgEventsQuery) => query.userId !== undefined)
  @ValidateBy({
    name: 'isEntityId',
    validator: { validate: isEntityId, defaultMessage: () => 'must be the id of a user' },
  })
  userId?: string;
}

import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches, ValidateBy, ValidateIf } from 'class-validator';
import { isEntityId } from '../identifiers/entity-id.js';
import { DEFAULT_LIMIT } from '../http/pages.js';
import { PageCursor, PageLimit } from '../http/fields.js';
import { EVENT_TYPES, type EventType } from './event-types.js';
import { START } from './feed.repository.js';

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

export const INVALID_CURSOR = 'must be start, or the next of an answer';

const WAIT_SECONDS = /^(?:\d|1[0-5])$/;

export class FeedQuery {
  @ApiProperty({
    required: false,
    description:
      '`next` of the last answer, or `start` for the oldest event that is kept; without it the answer is the cursor of now',
    pattern: '^(start|[0-9a-f-]{36})$',
  })
  @ValidateIf(({ after }: FeedQuery) => after !== undefined)
  @ValidateBy({
    name: 'isCursorOfFeed',
    validator: {
      validate: (value) => value === START || isEntityId(value),
      defaultMessage: () => INVALID_CURSOR,
    },
  })
  after?: string;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 15,
    default: 0,
    required: false,
    description: 'seconds to wait for an event if there is none yet',
  })
  @ValidateIf(({ wait }: FeedQuery) => wait !== undefined)
  @Matches(WAIT_SECONDS, { message: 'must be a whole number from 0 to 15' })
  wait?: string;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of events on a page' })
  limit?: string;
}

import { ApiProperty } from '@nestjs/swagger';
import { Matches, ValidateBy } from 'class-validator';
import { isEntityId } from '../identifiers/entity-id.js';
import { IfGiven, IsId, IsOneOf, PageCursor, PageLimit } from '../http/fields.js';
import { EVENT_TYPES, type EventType } from './event-types.js';
import { START } from './feed.repository.js';

export class ListEventsQuery {
  @IfGiven()
  @IsOneOf(EVENT_TYPES, 'must be an event type', {
    enumName: 'EventType',
    description:
      'Type of the events to list. The default is every type. The search for a page ends after five times ' +
      '`limit` events, so a page can be empty although a next page exists.',
  })
  type?: EventType;

  @PageLimit('events') limit?: string;
  @PageCursor() cursor?: string;
}

export class ListOrgEventsQuery extends ListEventsQuery {
  /** Id of the user that the events are about. The default is every user. */
  @IfGiven()
  @IsId('a user')
  userId?: string;
}

export const INVALID_CURSOR = 'must be start, or the next of an answer';

const WAIT_SECONDS = /^(?:\d|1[0-5])$/;

export class FeedQuery {
  /**
   * Value of `next` of the previous response, or `start` for the oldest event that is kept. Without it, the response
   * has no events, but the current cursor.
   */
  @ApiProperty({ pattern: '^(start|[0-9a-f-]{36})$' })
  @IfGiven()
  @ValidateBy({
    name: 'isCursorOfFeed',
    validator: {
      validate: (value) => value === START || isEntityId(value),
      defaultMessage: () => INVALID_CURSOR,
    },
  })
  after?: string;

  /** Seconds to wait for an event if there is none yet. The default is 0. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 15, default: 0 })
  @IfGiven()
  @Matches(WAIT_SECONDS, { message: 'must be a whole number from 0 to 15' })
  wait?: string;

  @PageLimit('events') limit?: string;
}

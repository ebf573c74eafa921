import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches, ValidateBy, ValidateIf } from 'class-validator';
import { EVENT_TYPES, type EventType } from '../../events/event-types.js';
import { isEntityId } from '../../identifiers/entity-id.js';
import { decodeCursor } from '../event-cursor.js';

const LIMIT = /^(?:[1-9]\d{0,2}|1000)$/;

const isText = (name: string, validate: (text: string) => boolean, message: string): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: (value) => typeof value === 'string' && validate(value),
      defaultMessage: () => message,
    },
  });

export class ListEventsQuery {
  @ApiProperty({
    enum: EVENT_TYPES,
    enumName: 'EventType',
    required: false,
    description: 'events of this type only',
  })
  @ValidateIf((query: ListEventsQuery) => query.type !== undefined)
  @IsIn(EVENT_TYPES, { message: 'must be a type of event' })
  type?: EventType;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 100,
    required: false,
    example: 100,
    description: 'events on a page, at most',
  })
  @ValidateIf((query: ListEventsQuery) => query.limit !== undefined)
  @Matches(LIMIT, { message: 'must be a whole number from 1 to 1000' })
  limit?: string;

  @ApiProperty({
    required: false,
    description: '`nextCursor` of the page before',
    pattern: '^[A-Za-z0-9_-]+$',
  })
  @ValidateIf((query: ListEventsQuery) => query.cursor !== undefined)
  @isText('isCursor', (text) => decodeCursor(text) !== undefined, 'must be the nextCursor of a page')
  cursor?: string;
}

export class ListOrgEventsQuery extends ListEventsQuery {
  @ApiProperty({ format: 'uuid', required: false, description: 'events about this user only' })
  @ValidateIf((query: ListOrgEventsQuery) => query.userId !== undefined)
  @isText('isEntityId', isEntityId, 'must be the id of a user')
  userId?: string;
}

import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { isEntityId } from '../identifiers/entity-id.js';
import { parseTimeOrAge } from '../config/readers.js';
import { DEFAULT_LIMIT } from '../http/pages.js';
import { PageCursor, PageLimit } from '../http/page-query.decorators.js';
import { EVENT_TYPES, type EventType } from '../events/event-types.js';

/** more than the longest time with its zone */
const MAX_TIME = 40;
const DAY_MS = 86_400_000;
const VALIDATION_MS = 1000;

const UNBOUNDED_TYPE = 'must come with userId, with orgId, or with since and at most a day up to until';
const INVALID_TIME =
  'must be a time such as 2026-11-22T09:30Z, a day such as 2026-11-22, or an age such as 24h';

export class ListRecordQuery {
  @ApiProperty({
    enum: EVENT_TYPES,
    enumName: 'EventType',
    required: false,
    description:
      'type of the events to list, which needs `userId`, `orgId` or at most a day between `since` and `until`; the ' +
      'search for a page ends after five times `limit` events, so a page can be empty although a next one exists',
  })
  @ValidateIf((query: ListRecordQuery) => query.type !== undefined)
  @IsIn(EVENT_TYPES, { message: 'must be an event type' })
  @ValidateBy({
    name: 'isBounded',
    validator: {
      validate: (_, context) => isBounded(context!.object),
      defaultMessage: () => UNBOUNDED_TYPE,
    },
  })
  type?: EventType;

  @SubjectId('a user')
  userId?: string;

  @SubjectId('an organization')
  orgId?: string;

  @RecordTime('time from which on events are listed: with its zone, a day in UTC, or an age such as `24h`')
  since?: number;

  @RecordTime('time before which events are listed: with its zone, a day in UTC, or an age such as `24h`')
  until?: number;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of events on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}

function SubjectId(subject: 'a user' | 'an organization'): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      format: 'uuid',
      required: false,
      description: `id of ${subject}, whose events are listed`,
    }),
    ValidateIf((_, value) => value !== undefined),
    ValidateBy({
      name: 'isEntityId',
      validator: { validate: isEntityId, defaultMessage: () => `must be the id of ${subject}` },
    }),
  );
}

/** Gives epoch milliseconds, or null for what is refused. */
function RecordTime(description: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, required: false, minLength: 2, maxLength: MAX_TIME, description }),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && value.length <= MAX_TIME
        ? (parseTimeOrAge(value, Date.now()) ?? null)
        : null,
    ),
    ValidateIf((_, value) => value !== undefined),
    ValidateBy({
      name: 'isRecordTime',
      validator: { validate: (time) => typeof time === 'number', defaultMessage: () => INVALID_TIME },
    }),
  );
}

/** No index finds a type among all events. An age of a day counts from a moment before this one. */
function isBounded({ userId, orgId, since, until = Date.now() - VALIDATION_MS }: ListRecordQuery): boolean {
  if (userId !== undefined || orgId !== undefined) return true;
  return typeof since === 'number' && until - since <= DAY_MS;
}

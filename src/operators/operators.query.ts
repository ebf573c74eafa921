import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { type Role, ROLES } from '../access/principal.js';
import { IsOneLine, PageCursor, PageLimit } from '../http/fields.js';
import { MAIL_STATES, type MailState } from '../mail/mail.entity.js';
import { MAX_ORG_NAME } from '../orgs/state/org.entity.js';
import { decodeNameCursor, decodeTextCursor, DEFAULT_LIMIT } from '../http/pages.js';
import { canonicalEmail } from '../users/email-address.js';
import { EmailSearch } from '../users/email.decorators.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { parseTimeOrAge } from '../config/readers.js';
import { EVENT_TYPES, type EventType } from '../events/event-types.js';

const USER_STATUSES = ['active', 'disabled'] as const;
const ORG_STATUSES = ['active', 'deleted'] as const;

export class ListUsersQuery {
  @EmailSearch('beginning of the e-mails to find, such as `gra`')
  search?: string;

  @OneOf(
    {
      enum: USER_STATUSES,
      description:
        'status of the accounts to find; the search for a page of active ones ends after five times `limit` accounts, ' +
        'so a page can be short although a next one exists',
    },
    'must be active or disabled',
  )
  status?: (typeof USER_STATUSES)[number];

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of users on a page' })
  limit?: string;

  @PageCursor((text) => decodeTextCursor(text) !== undefined)
  cursor?: string;
}

export class ListOrgsQuery {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: MAX_ORG_NAME,
    description: 'beginning of the names to find, such as `Analyt`, in upper and lower case as in the name',
  })
  @ValidateIf((query: ListOrgsQuery) => query.search !== undefined)
  @IsOneLine(MAX_ORG_NAME)
  search?: string;

  @OneOf(
    {
      enum: ORG_STATUSES,
      description:
        'status of the organizations to find; the search for a page of active ones ends after five times `limit` ' +
        'organizations, so a page can be short although a next one exists',
    },
    'must be active or deleted',
  )
  status?: (typeof ORG_STATUSES)[number];

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of organizations on a page' })
  limit?: string;

  @PageCursor((text) => decodeNameCursor(text) !== undefined)
  cursor?: string;
}

export class ListOrgMembersQuery {
  @EmailSearch('beginning of the e-mails to find, such as `gra`')
  search?: string;

  @OneOf(
    { enum: ROLES, enumName: 'Role', description: 'role of the members to find' },
    'must be member, admin or owner',
  )
  role?: Role;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of members on a page' })
  limit?: string;

  @PageCursor((text) => decodeTextCursor(text) !== undefined)
  cursor?: string;
}

export class ListServicesQuery {
  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of services on a page' })
  limit?: string;

  @PageCursor((text) => decodeTextCursor(text) !== undefined)
  cursor?: string;
}

export class ListMailsQuery {
  @OneOf(
    {
      enum: MAIL_STATES,
      enumName: 'MailState',
      description: 'state of the mails to list; by default those that wait and those that failed',
    },
    'must be waiting, sent, failed or dropped',
  )
  state?: MailState;

  @ApiProperty({
    required: false,
    format: 'email',
    maxLength: 254,
    description: 'e-mail to which the mails are addressed',
  })
  // Give null for refused text, because an optional property may be undefined.
  @Transform(({ value }: { value: unknown }) => canonicalEmail(value) ?? null)
  @ValidateIf((query: ListMailsQuery) => query.to !== undefined)
  @ValidateBy({
    name: 'isEmailAddress',
    validator: { validate: (email) => email !== null, defaultMessage: () => 'must be an e-mail address' },
  })
  to?: string;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of mails on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}

/** Declares an optional filter with a fixed set of values. */
function OneOf(
  filter: { enum: readonly string[]; enumName?: string; description: string },
  message: string,
): PropertyDecorator {
  const { enum: values, ...documentation } = filter;
  return applyDecorators(
    ApiProperty({ enum: [...values], required: false, ...documentation }),
    ValidateIf((_, value) => value !== undefined),
    IsIn(values, { message }),
  );
}

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

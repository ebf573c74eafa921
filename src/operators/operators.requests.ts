import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Matches, ValidateBy } from 'class-validator';
import { IfGiven, IsFlag, IsId, IsOneLine, IsOneOf, PageCursor, PageLimit, ReadBy } from '../http/fields.js';
import { ApiText } from '../openapi/decorators.js';
import { type Role, ROLES } from '../access/principal.js';
import { MAIL_STATES, type MailState } from '../mail/mail.entity.js';
import { MAX_ORG_NAME, type OrgStatus } from '../orgs/state/org.entity.js';
import { ORG_STATUSES } from './views.js';
import { decodeNameCursor, decodeTextCursor } from '../http/pages.js';
import { EmailSearch, IsEmailAddress, IsProfileField } from '../users/user.fields.js';
import { normalizedEmail } from '../users/email-address.js';
import { oneLine } from '../identifiers/text.js';
import { SERVICE_NAME, SERVICE_NEEDED } from '../services/service-secrets.js';
import { parseTimeOrAge } from '../config/readers.js';
import { EVENT_TYPES, type EventType } from '../events/event-types.js';

const MAX_REASON = 200;
const MAX_EMAIL = 254;

export const INVALID_ROLE = 'must be member, admin or owner';

export const REASON_NEEDED = `must be text of 1 to ${MAX_REASON} characters without control characters`;

/** Every change by an operator has one. */
export class ReasonRequest {
  /** The reason for the change, for the audit log. Only operators can read it. */
  @IsOneLine(MAX_REASON, { example: 'ticket 4711: asked for it by phone' }) reason: string;
}

export class ReasonWithForceRequest extends ReasonRequest {
  /**
   * Whether to continue if an organization is left without an enabled owner. The default is false: the request is
   * rejected.
   */
  @IsFlag({ example: false }) force?: boolean;
}

export class CreateUserRequest extends ReasonRequest {
  /** Case makes no difference. An internationalized domain is converted to its ASCII form. */
  @IsEmailAddress('ada@example.com') email: string;

  @IsProfileField('name') name?: string | null;

  /** Whether the email is verified, because you know that it belongs to the user. The default is false. */
  @IsFlag({ example: false }) verified?: boolean;
}

export class AddOrgOwnerRequest extends ReasonRequest {
  /** Id of the user who becomes an owner. */
  @IsId('a user', { example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) userId: string;

  /** Whether to add a user who is not a member. The default is false: the request is rejected. */
  @IsFlag({ example: false }) force?: boolean;
}

export class SetOrgMemberRoleRequest extends ReasonRequest {
  @IsOneOf(ROLES, INVALID_ROLE, { enumName: 'Role', example: 'member' }) role: Role;
}

export class AllowCallRequest extends ReasonRequest {
  /** Name of the service that is called. */
  @ApiProperty({ pattern: SERVICE_NAME.source, example: 'ledger' })
  @Matches(SERVICE_NAME, { message: SERVICE_NEEDED })
  to: string;
}

const USER_STATUSES = ['active', 'disabled'] as const;

export class ListUsersQuery {
  /**
   * Part of the email or name of the users to find, such as `gra`. Case makes no difference: on SQLite of ASCII letters,
   * on other databases of all letters, and accents make none either.
   */
  @IfGiven()
  @IsOneLine(MAX_EMAIL)
  search?: string;

  @IfGiven()
  @IsOneOf(USER_STATUSES, 'must be active or disabled', {
    description:
      'Status of the users to find. The default is every status. The search for a page of active users ends ' +
      'after five times `limit` users, so a page can be short although a next page exists.',
  })
  status?: (typeof USER_STATUSES)[number];

  @PageLimit('users') limit?: string;
  @PageCursor((text) => decodeTextCursor(text) !== undefined) cursor?: string;
}

export class ListOrgsQuery {
  /**
   * Part of the names to find, such as `engine`. Case makes no difference: on SQLite of ASCII letters, on other databases
   * of all letters, and accents make none either.
   */
  @IfGiven()
  @IsOneLine(MAX_ORG_NAME)
  search?: string;

  @IfGiven()
  @IsOneOf(ORG_STATUSES, 'must be active, deleted or ownerless', {
    description:
      'Status of the organizations to find. The default is every status. An `ownerless` organization is not deleted ' +
      'and has no enabled owner. The search for a page ends after five times `limit` active organizations, or 2500 ' +
      'for ownerless ones, so a page can be short, or empty, although a next page exists.',
  })
  status?: OrgStatus;

  @PageLimit('organizations') limit?: string;
  @PageCursor((text) => decodeNameCursor(text) !== undefined) cursor?: string;
}

export class ListOrgMembersQuery {
  @EmailSearch('Beginning of the emails to find, such as `gra`.')
  search?: string;

  /** Role of the members to find. The default is every role. */
  @IfGiven()
  @IsOneOf(ROLES, INVALID_ROLE, { enumName: 'Role' })
  role?: Role;

  @PageLimit('members') limit?: string;
  @PageCursor((text) => decodeTextCursor(text) !== undefined) cursor?: string;
}

export class ListServicesQuery {
  @PageLimit('services') limit?: string;
  @PageCursor((text) => decodeTextCursor(text) !== undefined) cursor?: string;
}

const ONE_FILTER = 'must come without another one of userId, orgId and audience';

const IsOnlyFilter = (): PropertyDecorator =>
  ValidateBy({
    name: 'isOnlyFilter',
    validator: {
      validate: (_, context) => {
        const { userId, orgId, audience } = context!.object as ListApiKeysQuery;
        return [userId, orgId, audience].filter((value) => value !== undefined).length === 1;
      },
      defaultMessage: () => ONE_FILTER,
    },
  });

export class ListApiKeysQuery {
  /** Id of the user as whom the API keys act, in organizations too. */
  @IfGiven()
  @IsOnlyFilter()
  @IsId('a user')
  userId?: string;

  /** Id of the organization that the API keys belong to. */
  @IfGiven()
  @IsOnlyFilter()
  @IsId('an organization')
  orgId?: string;

  /** Name of the service that the API keys are for. */
  @IfGiven()
  @IsOnlyFilter()
  @ApiProperty({ pattern: SERVICE_NAME.source })
  @Matches(SERVICE_NAME, { message: SERVICE_NEEDED })
  audience?: string;

  @PageLimit('API keys') limit?: string;
  @PageCursor() cursor?: string;
}

export class ListMailsQuery {
  /** State of the emails to list. The default is emails that wait or failed. */
  @IfGiven()
  @IsOneOf(MAIL_STATES, 'must be waiting, sent, failed or dropped', { enumName: 'EmailState' })
  state?: MailState;

  /** Email address of the recipient. The default is all recipients. */
  @IsEmailAddress()
  @IfGiven()
  to?: string;

  @PageLimit('emails') limit?: string;
  @PageCursor() cursor?: string;
}

/** more than the longest time with its zone */
const MAX_TIME = 40;
const DAY_MS = 86_400_000;
const VALIDATION_MS = 1000;

const MAX_ACTOR = 254;
const INVALID_ACTOR = `must be the id or the email of an actor, of 1 to ${MAX_ACTOR} characters`;
const UNBOUNDED_TYPE = 'must come with userId, orgId or actorId, or with since and at most a day up to until';
const INVALID_TIME =
  'must be a time such as 2026-11-22T09:30Z, a day such as 2026-11-22, or an age such as 24h';

/** Gives epoch milliseconds. */
const RecordTime = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiText(2, MAX_TIME, { description }),
    IfGiven(),
    ReadBy((value) => {
      const isShort = typeof value === 'string' && value.length <= MAX_TIME;
      return isShort ? parseTimeOrAge(value, Date.now()) : undefined;
    }, INVALID_TIME),
  );

export class ListAuditEventsQuery {
  @IfGiven()
  @IsOneOf(EVENT_TYPES, 'must be an event type', {
    enumName: 'EventType',
    description:
      'Type of the events. It needs `userId`, `orgId`, `actorId`, or at most a day between `since` and `until`. A ' +
      'page can be empty although a next page exists.',
  })
  @ValidateBy({
    name: 'isBounded',
    validator: {
      validate: (_, context) => isBounded(context!.object),
      defaultMessage: () => UNBOUNDED_TYPE,
    },
  })
  type?: EventType;

  /** Id of the user that the events are about. The user may be deleted. */
  @IfGiven()
  @IsId('a user')
  userId?: string;

  /** Id of the organization that the events are about. It may be deleted. */
  @IfGiven()
  @IsId('an organization')
  orgId?: string;

  @IfGiven()
  @ReadBy((value) => normalizedEmail(value) ?? oneLine(value, MAX_ACTOR), INVALID_ACTOR)
  @ApiText(1, MAX_ACTOR, {
    description:
      'Actor of the events: `actor.id`, or an email that an operator has or had. It may be of a deleted user.',
  })
  actorId?: string;

  @RecordTime('Lists events from this time on: a time with its zone, a day in UTC, or an age such as `24h`.')
  since?: number;

  @RecordTime('Lists events before this time: a time with its zone, a day in UTC, or an age such as `24h`.')
  until?: number;

  @PageLimit('events') limit?: string;
  @PageCursor() cursor?: string;
}

/** No index finds a type among all events. An age of a day counts from a moment before this one. */
function isBounded({
  userId,
  orgId,
  actorId,
  since,
  until = Date.now() - VALIDATION_MS,
}: ListAuditEventsQuery): boolean {
  if (userId !== undefined || orgId !== undefined || actorId !== undefined) return true;
  return typeof since === 'number' && until - since <= DAY_MS;
}

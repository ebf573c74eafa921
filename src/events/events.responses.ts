import {
  ApiExtraModels,
  ApiProperty,
  type ApiPropertyOptions,
  ApiSchema,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Type } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { definitionOf, EVENT_TYPES, type EventType } from './event-types.js';
import { columnsOf, type Fields, type Subject } from './event-fields.js';
import { ApiEmail, ApiId, ApiText, ApiTime, type SchemaObject, pascalCase } from '../openapi/decorators.js';

const ACTOR_TYPES: Actor['kind'][] = ['user', 'operator', 'system'];

const ORG = '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c';
const ADA = '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f';
const GRACE = '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d';
const ADAS_SESSION = '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e';

export const ORG_EVENT = {
  id: '019a8f3e-9e50-7c43-8e6f-8a0b2c4d5e6f',
  type: 'member.added',
  at: '2026-11-22T09:30:00.000Z',
  actor: { type: 'user', id: ADA },
  orgId: ORG,
  orgRevision: 2,
  userId: GRACE,
  data: { role: 'member', via: 'added' },
};
export const OWN_EVENT = {
  id: '019a8f3e-af61-7d54-9f70-9b1c3d5e6f70',
  type: 'session.started',
  at: '2026-11-22T09:00:00.000Z',
  actor: { type: 'user', id: ADA, sessionId: ADAS_SESSION },
  orgId: null,
  orgRevision: null,
  userId: ADA,
  userRevision: null,
  sessionId: ADAS_SESSION,
  ip: '198.51.100.7',
  requestId: '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11',
  data: { via: 'login' },
};

export class EventActor {
  @ApiProperty({ enum: ACTOR_TYPES, enumName: 'ActorType', description: 'Kind of the actor.' })
  type: Actor['kind'];

  /** Id of the user, or name of the operator. Null for Accounts itself. */
  @ApiText(1, 128, { nullable: true }) id: string | null;
}

export class OwnEventActor extends EventActor {
  /** Id of the session that acted. Null if it is unknown or belongs to another user. */
  @ApiId({ nullable: true }) sessionId: string | null;
}

class BaseEvent {
  @ApiId() id: string;
  @ApiProperty({ enum: EVENT_TYPES, enumName: 'EventType' }) type: EventType;
  @ApiTime() at: string;
  @ApiId({ nullable: true }) orgId: string | null;

  /**
   * Revision of the organization after the change, by which its events are ordered. Numbers may be skipped. Null if
   * the event is about no organization.
   */
  @ApiProperty({ type: 'integer', nullable: true }) orgRevision: number | null;

  /** Id of the user that the event is about. Null if it is about no user. */
  @ApiId({ nullable: true }) userId: string | null;

  /** Details of the change, which depend on the type of the event. */
  @ApiProperty({
    type: 'object',
    additionalProperties: {
      oneOf: [
        { type: 'string', minLength: 1, nullable: true },
        { type: 'integer' },
        { type: 'boolean' },
        { type: 'array', items: { type: 'string', minLength: 1 } },
      ],
    },
  })
  data: Record<string, string | number | boolean | string[] | null>;
}

@ApiSchema({ name: 'OrgEvent' })
export class OrgEventDto extends BaseEvent {
  actor: EventActor;
}

class DetailedEvent extends BaseEvent {
  /** Revision of the user after the change. Null if the event does not change the user. */
  @ApiProperty({ type: 'integer', nullable: true }) userRevision: number | null;

  /** Id of the session that the event is about. Null if it is about no session. */
  @ApiId({ nullable: true }) sessionId: string | null;
  @ApiText(1, 128, { nullable: true }) requestId: string | null;
}

export class OwnEvent extends DetailedEvent {
  actor: OwnEventActor;

  /** The client IP address. Null if it was deleted after 90 days or belongs to another user. */
  @ApiText(2, 45, { nullable: true }) ip: string | null;
}

class AuditEventActor extends EventActor {
  /** Email that the operator had at that time. It stays when the operator is deleted. Null for other actors. */
  @ApiEmail({ nullable: true }) email: string | null;

  /** Present email of the user who acted. Null if the user was deleted or is unknown. Present with `include=emails`. */
  @ApiEmail({ nullable: true }) userEmail?: string | null;

  /** Id of the session that acted. Null if it is unknown. */
  @ApiId({ nullable: true }) sessionId: string | null;
}

export class AuditEvent extends DetailedEvent {
  actor: AuditEventActor;

  /** Present email of the user with `userId`. Null if the user was deleted. Present with `include=emails`. */
  @ApiEmail({ nullable: true }) userEmail?: string | null;

  /** The client IP address. Null if there was none, or if it was deleted after 90 days. */
  @ApiText(2, 45, { nullable: true }) ip: string | null;

  /** The reason that the operator gave. Null if the actor is not an operator. */
  @ApiText(1, 500, { nullable: true }) reason: string | null;
}

export class EventsPage {
  /**
   * Cursor of the next page. Absent on the last page. A page can be shorter than `limit`, or empty, although a next
   * page exists.
   */
  @ApiProperty({
    pattern: '^[A-Za-z0-9_-]+$',
    example: 'Mi4wMTlhOGYzZS05ZTUwLTdjNDMtOGU2Zi04YTBiMmM0ZDVlNmY',
  })
  nextCursor?: string;
}

export class OrgEventsResponse extends EventsPage {
  @ApiProperty({ type: [OrgEventDto], example: [ORG_EVENT] }) events: OrgEventDto[];
}

export class OwnEventsResponse extends EventsPage {
  @ApiProperty({ type: [OwnEvent], example: [OWN_EVENT] }) events: OwnEvent[];
}

export class FeedEventActor {
  @ApiProperty({ enum: ACTOR_TYPES, enumName: 'ActorType', description: 'Kind of the actor.' })
  type: Actor['kind'];

  /** Id of the user. Null for an operator and for Accounts itself. */
  @ApiId({ nullable: true }) id: string | null;
}

class EventHead {
  @ApiId() id: string;
  @ApiTime() at: string;

  actor: FeedEventActor;
}

export type FeedEvent = EventHead & Omit<DetailedEvent, 'requestId'>;

const COLUMNS: Record<keyof Subject, ApiPropertyOptions> = {
  orgId: { type: String, format: 'uuid' },
  orgRevision: { type: 'integer' },
  userId: { type: String, format: 'uuid' },
  userRevision: { type: 'integer' },
  sessionId: { type: String, format: 'uuid' },
};

const SERVED_TYPES = EVENT_TYPES.filter((type) => definitionOf(type)?.deliveredTo !== 'no service');

const SCHEMAS = new Map(SERVED_TYPES.map((type) => [type, schemaOf(type)]));

const EVENT: SchemaObject = {
  oneOf: [...SCHEMAS.values()].map(({ name }) => ({ $ref: getSchemaPath(name) })),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries([...SCHEMAS].map(([type, { name }]) => [type, getSchemaPath(name)])),
  },
};

const { ip: _ip, requestId: _requestId, actor, ...LOGIN } = OWN_EVENT;
const EXAMPLE = { ...LOGIN, actor: { type: actor.type, id: actor.id } };

/** A page of the feed, in the order of the feed. `type` tells the events apart. */
@ApiExtraModels(FeedEventActor, ...SCHEMAS.values())
export class FeedResponse {
  @ApiProperty({ type: 'array', items: EVENT, example: [EXAMPLE] }) events: FeedEvent[];

  /**
   * Cursor to send as `after` in the next request.
   * @example "019a8f3e-9e50-7c43-8e6f-8a0b2c4d5e6f"
   */
  @ApiProperty({ pattern: '^[0-9a-f-]{36}$' })
  next: string;
}

/** Returns a class for the OpenAPI document. It has no instances. */
function schemaOf(type: EventType): Type {
  const { meaning, forms } = definitionOf(type)!;
  const name = `${pascalCase(type.replace('.', '_'))}Event`;
  const schema = { [name]: class extends EventHead {} }[name]!;
  ApiSchema({ name, description: meaning })(schema);
  const property = (field: string, options: ApiPropertyOptions): void =>
    ApiProperty(options)(schema.prototype, field);
  property('type', { type: String, enum: [type] });
  for (const [column, options] of Object.entries(COLUMNS) as [keyof Subject, ApiPropertyOptions][]) {
    const isAlwaysThere = forms.every((form) => columnsOf(form).includes(column));
    property(column, isAlwaysThere ? options : { ...options, nullable: true });
  }
  property('data', {
    ...dataSchema(forms.map(({ data }) => data)),
    selfRequired: true,
  } as ApiPropertyOptions);
  return schema;
}

/** One schema for all forms of the data; a field that one form lacks is optional. */
function dataSchema(forms: Fields[]): SchemaObject {
  const fields: Fields = Object.assign({}, ...forms) as Fields;
  const required = requiredIn(fields).filter((name) => forms.every((form) => name in form));
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}

function requiredIn(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => !fields[name]!.isOptional && !fields[name]!.isNewer);
}

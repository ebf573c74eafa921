import type { Type } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiProperty,
  type ApiPropertyOptions,
  ApiSchema,
  getSchemaPath,
} from '@nestjs/swagger';
import { pascalCase } from '../openapi/problem-schemas.js';
import {
  columnsOf,
  type Definition,
  type Fields,
  type SchemaObject,
  type Subject,
} from './event-definitions.js';
import { definitionOf, EVENT_TYPES, type EventType } from './event-types.js';
import { ACTOR_TYPES, type ActorType, OWN_EVENT } from './events.responses.js';

export class FeedEventActor {
  @ApiProperty({ enum: ACTOR_TYPES, enumName: 'ActorType' })
  type: ActorType;

  /** id of the user; null for an operator and for the service itself */
  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  id: string | null;
}

class EventHead {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  at: string;

  actor: FeedEventActor;
}

export interface FeedEvent extends EventHead {
  type: EventType;
  orgId: string | null;
  orgRevision: number | null;
  userId: string | null;
  userRevision: number | null;
  sessionId: string | null;
  data: Record<string, string | number | boolean>;
}

const COLUMNS: Record<keyof Subject, ApiPropertyOptions> = {
  orgId: { type: String, format: 'uuid' },
  orgRevision: { type: 'integer' },
  userId: { type: String, format: 'uuid' },
  userRevision: { type: 'integer' },
  sessionId: { type: String, format: 'uuid' },
};

const SERVED_TYPES = EVENT_TYPES.filter((type) => definitionOf(type)?.toldTo !== 'no service');

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
export class FeedEvents {
  @ApiProperty({ type: 'array', items: EVENT, example: [EXAMPLE] })
  events: FeedEvent[];
}

export class FeedResult extends FeedEvents {
  /**
   * `after` of the next request
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
  const data = forms.map(({ data: fields }) => dataSchema(fields, forms));
  if (data.length > 1) property('data', { type: Object, oneOf: data });
  else property('data', { ...data[0], selfRequired: true } as ApiPropertyOptions);
  return schema;
}

/** Excludes the other forms, which have more fields, so that an event matches one form only. */
function dataSchema(fields: Fields, forms: Definition['forms']): SchemaObject {
  const required = requiredIn(fields);
  const others = forms.flatMap(({ data }) => requiredIn(data)).filter((name) => !(name in fields));
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    ...(others.length > 0 && { not: { required: others } }),
  };
}

function requiredIn(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => !fields[name]!.isOptional && !fields[name]!.isNewer);
}

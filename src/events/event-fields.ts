import type { Schema } from '../openapi/decorators.js';

/** A field of an event's `data`: a fixed word, an id or a number, never an email, a name or a secret. */
export interface Field<Value = unknown, IsOptional extends boolean = boolean> {
  schema: Schema;
  text: string;
  isOptional: IsOptional;
  isNewer?: boolean;
  /** never set; it carries the type */
  value?: Value;
}

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F> = F extends Field<infer Value> ? Value : never;

export type DataOf<F extends Fields> = {
  [Name in keyof F as F[Name] extends Field<unknown, false> ? Name : never]: ValueOf<F[Name]>;
} & { [Name in keyof F as F[Name] extends Field<unknown, true> ? Name : never]?: ValueOf<F[Name]> };

function required<Value>(schema: Schema, text: string): Field<Value, false> {
  return { schema, text, isOptional: false };
}

export function words<const Word extends string>(...list: Word[]): Field<Word, false> {
  return required({ type: 'string', enum: list }, list.map((word) => `\`${word}\``).join(', '));
}

/** Adds words that the event feed replaces: its schema does not have them. */
export function withInternal<Known, const Word extends string>(
  field: Field<Known, false>,
  ...list: Word[]
): Field<Known | Word, false> {
  return { ...field, text: `${field.text}; only outside the event feed ${words(...list).text}` };
}

export function listOf<const Word extends string>(...list: Word[]): Field<Word[], false> {
  const { schema: items, text } = words(...list);
  return required({ type: 'array', minItems: 1, items }, `a list of ${text}`);
}

export function optional<Value>(field: Field<Value>): Field<Value, true> {
  return { ...field, isOptional: true };
}

export function newer<Value>(field: Field<Value, false>): Field<Value, false> {
  return { ...field, isNewer: true };
}

export const ROLE = required<'member' | 'admin' | 'owner'>({ $ref: '#/components/schemas/Role' }, 'a role');
export const ID = required<string>({ type: 'string', format: 'uuid' }, 'an id');
export const TEXT = required<string>({ type: 'string', minLength: 1 }, 'text');
export const TEXTS = required<string[]>(
  { type: 'array', minItems: 1, items: TEXT.schema },
  'a list of texts',
);
export const NUMBER = required<number>({ type: 'integer' }, 'a number');
export const BOOLEAN = required<boolean>({ type: 'boolean' }, '`true` or `false`');
export const TIME_OR_NULL = required<string | null>(
  { type: 'string', format: 'date-time', nullable: true, description: 'The time. Null if there is none.' },
  'a time or null',
);
export const TRUE = required<true>({ type: 'boolean', enum: [true] }, '`true`');

export interface Subject {
  orgId: string;
  orgRevision: number;
  userId: string;
  userRevision: number;
  sessionId: string;
}

const SUBJECTS = {
  account: ['userId', 'userRevision'],
  session: ['userId', 'sessionId'],
  sessions: ['userId'],
  organization: ['orgId', 'orgRevision'],
  membership: ['orgId', 'orgRevision', 'userId'],
  service: [],
  provider: [],
  keys: [],
  mail: [],
} as const satisfies Record<string, readonly (keyof Subject)[]>;

type About = keyof typeof SUBJECTS;

export interface Form<A extends About = About, F extends Fields = Fields> {
  about: A;
  data: F;
}

export interface Definition {
  deliveredTo: 'all services' | 'that service' | 'no service';
  meaning: string;
  forms: readonly Form[];
}

const NOTHING = {};

export function deliveredTo(audience: Definition['deliveredTo']) {
  return <A extends About, F extends Fields = typeof NOTHING>(
    about: A,
    meaning: string,
    data = NOTHING as F,
  ) => ({ deliveredTo: audience, meaning, forms: [{ about, data }] as const });
}

export function columnsOf({ about }: Form): readonly (keyof Subject)[] {
  return SUBJECTS[about];
}

type DataIn<F extends Fields> = keyof F extends never
  ? { data?: Record<string, never> }
  : object extends DataOf<F>
    ? { data?: DataOf<F> }
    : { data: DataOf<F> };

export type ContentOf<F> =
  F extends Form<infer A, infer D> ? Pick<Subject, (typeof SUBJECTS)[A][number]> & DataIn<D> : never;

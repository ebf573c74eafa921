import type { OpenAPIObject } from '@nestjs/swagger';

export type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

export type SchemaObject = Exclude<Schema, { $ref: string }>;

/** A field of an event's `data`: words, ids and numbers, without e-mails, names and secrets. */
export interface Field<Value = unknown, IsOptional extends boolean = boolean> {
  schema: Schema;
  /** for readers of docs/reference.md */
  text: string;
  isOptional: IsOptional;
  /** of every event recorded now, though not of those that an older version recorded */
  isNewer?: boolean;
  /** never set: it keeps the type */
  value?: Value;
}

export type Fields = Readonly<Record<string, Field>>;

type ValueOf<F> = F extends Field<infer Value> ? Value : never;

type RequiredOf<F extends Fields> = {
  [Name in keyof F]: F[Name] extends Field<unknown, false> ? Name : never;
}[keyof F];

export type DataOf<F extends Fields> = { [Name in RequiredOf<F>]: ValueOf<F[Name]> } & {
  [Name in Exclude<keyof F, RequiredOf<F>>]?: ValueOf<F[Name]>;
};

export function words<const Word extends string>(...list: Word[]): Field<Word, false> {
  const text = list.map((word) => `\`${word}\``).join(', ');
  return { schema: { type: 'string', enum: list }, text, isOptional: false };
}

/** Adds words that the event feed replaces: its schema does not have them. */
export function untold<Told, const Word extends string>(
  field: Field<Told, false>,
  ...list: Word[]
): Field<Told | Word, false> {
  const text = list.map((word) => `\`${word}\``).join(', ');
  return {
    schema: field.schema,
    text: `${field.text}, and not in the event feed ${text}`,
    isOptional: false,
  };
}

export function optional<Value>(field: Field<Value>): Field<Value, true> {
  return { ...field, isOptional: true };
}

export function newer<Value>(field: Field<Value, false>): Field<Value, false> {
  return { ...field, isNewer: true };
}

export const ROLE: Field<'member' | 'admin' | 'owner', false> = {
  schema: { $ref: '#/components/schemas/Role' },
  text: 'a role',
  isOptional: false,
};

export const ID: Field<string, false> = {
  schema: { type: 'string', format: 'uuid' },
  text: 'an id',
  isOptional: false,
};

export const TEXT: Field<string, false> = {
  schema: { type: 'string', minLength: 1 },
  text: 'text',
  isOptional: false,
};

export const NUMBER: Field<number, false> = {
  schema: { type: 'integer' },
  text: 'a number',
  isOptional: false,
};

export const BOOLEAN: Field<boolean, false> = {
  schema: { type: 'boolean' },
  text: '`true` or `false`',
  isOptional: false,
};

export const TRUE: Field<true, false> = {
  schema: { type: 'boolean', enum: [true] },
  text: '`true`',
  isOptional: false,
};

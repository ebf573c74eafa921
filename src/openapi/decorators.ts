import {
  type ApiHeaderOptions,
  ApiProperty,
  type ApiQueryOptions,
  type OpenAPIObject,
} from '@nestjs/swagger';
import 'reflect-metadata';
import { ROLES } from '../access/principal.js';
import type { FieldError } from '../problems/problem.js';
import type { ProblemCode } from '../problems/problem-codes.js';

export type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
export type SchemaObject = Exclude<Schema, { $ref: string }>;

export interface ProblemExample {
  code: ProblemCode;
  detail?: string;
  errors?: FieldError[];
  extensions?: object;
}

export const A_CHALLENGE =
  '019a8f3e-5c1d-7e2f-8a3b-4c5d6e7f8091.0.1795338000000.1795338300000.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';

export const WRITE_PARAMETERS = {
  ifMatch: {
    name: 'If-Match',
    required: false,
    description:
      'The `ETag` that the change is based on, such as `"7"` (RFC 9110 section 13.1.1). If it has changed since, ' +
      'the response is 412.',
    schema: { type: 'string', pattern: '^(\\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$', maxLength: 1000 },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    required: false,
    description:
      'A new UUID for each change. A request that is repeated with its key within 24 hours returns the first response ' +
      '(draft-ietf-httpapi-idempotency-key-header).',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
  dryRun: {
    name: 'dryRun',
    required: false,
    description: 'If true, nothing is changed, and the response is that of the change. The default is false.',
    schema: { type: 'boolean' },
  },
  remedy: {
    name: 'remedy',
    required: false,
    description: 'If true, an error suggests a fix in its member `remedy`. The default is false.',
    schema: { type: 'boolean' },
  },
} satisfies Record<string, ApiHeaderOptions & ApiQueryOptions>;

/** It has the name of the parameter above, and keeps no answer. */
export const EXCHANGE_KEY = {
  name: WRITE_PARAMETERS.idempotencyKey.name,
  required: false,
  description:
    'A new random text for each exchange, such as a UUID. It is a secret, because with the code it returns a token. ' +
    'Repeat a lost exchange with its key.',
  schema: { type: 'string', minLength: 16, maxLength: 255, pattern: '^[!-~]+$' },
} satisfies ApiHeaderOptions;

export interface FieldOptions {
  description?: string;
  example?: unknown;
  nullable?: true;
}

export const ApiId = (options: FieldOptions = {}): PropertyDecorator =>
  ApiProperty({ type: String, format: 'uuid', ...options });

export const ApiTime = (options: FieldOptions = {}): PropertyDecorator =>
  ApiProperty({ type: String, format: 'date-time', ...options });

export const ApiEmail = (options: FieldOptions = {}): PropertyDecorator =>
  ApiProperty({ type: String, format: 'email', maxLength: 254, ...options });

export const ApiCount = (options: FieldOptions & { minimum?: number } = {}): PropertyDecorator =>
  ApiProperty({ type: 'integer', minimum: 0, ...options });

export const ApiText = (
  minLength: number,
  maxLength?: number,
  options: FieldOptions = {},
): PropertyDecorator =>
  ApiProperty({ type: String, minLength, ...(maxLength !== undefined && { maxLength }), ...options });

/** RFC 4648 section 5, without padding. */
export const ApiBase64Url = (length: number, options: FieldOptions = {}): PropertyDecorator =>
  ApiProperty({ pattern: '^[A-Za-z0-9_-]+$', minLength: length, maxLength: length, ...options });

export const ApiRole = (options: FieldOptions = {}): PropertyDecorator =>
  ApiProperty({
    enum: ROLES,
    enumName: 'Role',
    enumSchema: { description: 'Role of a member, from the fewest permissions to the most.' },
    ...options,
  });

export const ApiNextCursor = (
  example: string,
  description = 'Cursor of the next page. Absent on the last page.',
): PropertyDecorator => ApiProperty({ description, example, pattern: '^[A-Za-z0-9_-]+$' });

export const ApiComplete = (rows: string): PropertyDecorator =>
  ApiProperty({
    type: Boolean,
    example: false,
    description:
      `Value \`false\` if there may be more ${rows}: more than 50 others were found, or there are more than 100,000, of ` +
      'which the newest were searched. Otherwise absent.',
  });

const METADATA = 'openapi:problems';

// The other problems of a route follow from its method and access: see problem-responses.ts. The last example of a code
// wins, so that a handler can be more exact than the decorators around it.
export function ApiProblems(...problems: (ProblemCode | ProblemExample)[]): MethodDecorator {
  const added = toExamples(problems);
  return (_prototype, _name, { value: handler }) => {
    Reflect.defineMetadata(METADATA, [...added, ...ownProblems(handler as object)], handler as object);
  };
}

export function toExamples(problems: (ProblemCode | ProblemExample)[]): ProblemExample[] {
  return problems.map((problem) => (typeof problem === 'string' ? { code: problem } : problem));
}

export const ownProblems = (handler: object): ProblemExample[] =>
  (Reflect.getMetadata(METADATA, handler) as ProblemExample[] | undefined) ?? [];

export function invalidFields(messages: Record<string, string>): ProblemExample {
  const errors = Object.entries(messages).map(([field, message]) => ({ field, message }));
  return { code: 'validation_failed', errors };
}

export const pascalCase = (code: string): string =>
  code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

import { ApiExtraModels, ApiProperty, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { applyDecorators, type Type } from '@nestjs/common';
import 'reflect-metadata';
import { ROLES } from '../access/principal.js';
import type { ProblemCode } from '../problems/problem-codes.js';
import type { ProblemExample } from './problem-schemas.js';

/** RFC 4648 section 5, without padding. */
export const ApiBase64Url = (length: number, { required = true } = {}): PropertyDecorator =>
  ApiProperty({ pattern: '^[A-Za-z0-9_-]+$', minLength: length, maxLength: length, required });

export const ApiRole = ({ required = true } = {}): PropertyDecorator =>
  ApiProperty({
    required,
    enum: ROLES,
    enumName: 'Role',
    enumSchema: { description: 'roles from the fewest permissions to the most' },
  });

/** Documents an answer of several classes by the schema that `addUnions` makes of them. */
export const ApiUnion = (status: number, schema: string, ...members: Type[]): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(...members),
    ApiResponse({ status, schema: { $ref: getSchemaPath(schema) } }),
  );

/** The other codes follow from the method of a route and from who may call it: see problem-responses.ts. */
type OwnCode = Exclude<
  ProblemCode,
  | 'malformed_json'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'unauthorized'
  | 'invalid_token'
  | 'not_a_member'
  | 'insufficient_role'
  | 'internal_error'
>;

type OwnProblem = ProblemExample & { code: OwnCode };

const METADATA = 'openapi:problems';

// Documents the failures that a decorator or a handler adds to those that every such route has. The last example given
// for a code wins, so that a handler can be more exact than what is above it.
export function ApiProblems(...problems: (OwnCode | OwnProblem)[]): MethodDecorator {
  const added = problems.map((problem) => (typeof problem === 'string' ? { code: problem } : problem));
  return (_prototype, _name, { value: handler }) => {
    // Decorators are applied from the last to the first.
    Reflect.defineMetadata(METADATA, [...added, ...ownProblems(handler as object)], handler as object);
  };
}

export const ownProblems = (handler: object): ProblemExample[] =>
  (Reflect.getMetadata(METADATA, handler) as ProblemExample[] | undefined) ?? [];

export function invalidFields(messages: Record<string, string>): ProblemExample & {
  code: 'validation_failed';
} {
  const errors = Object.entries(messages).map(([field, message]) => ({ field, message }));
  return { code: 'validation_failed', errors };
}

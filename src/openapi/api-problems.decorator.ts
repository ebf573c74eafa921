import 'reflect-metadata';
import type { ProblemCode } from '../problems/problem-codes.js';
import type { ProblemExample } from './problem-schemas.js';

/** The other codes follow from the method of a route and from who may call it: see implied-problems.ts. */
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

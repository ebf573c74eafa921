import { applyDecorators } from '@nestjs/common';
import { ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { PROBLEMS, type ProblemCode } from '../problems/problem-codes.js';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem-details.js';
import { type ProblemExample, problemExample, schemaName } from './problem-schemas.js';
import { headerRefs } from './response-headers.js';

const EVERYWHERE: ProblemCode[] = ['internal_error', 'unavailable'];

const WITH_BODY: ProblemCode[] = ['body_too_large', 'unsupported_media_type'];

const MORE_HEADERS: Record<number, Parameters<typeof headerRefs>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Documents the failures of a route, and those that are common to all. */
export function ApiProblems(...problems: (ProblemCode | ProblemExample)[]): MethodDecorator {
  const own = problems.map((problem) => (typeof problem === 'string' ? { code: problem } : problem));
  const codes = new Set(own.map(({ code }) => code));
  const common = [...(codes.has('malformed_json') ? WITH_BODY : []), ...EVERYWHERE];
  const missing = common.filter((code) => !codes.has(code)).map((code) => ({ code }));
  const byStatus = Map.groupBy([...own, ...missing], ({ code }) => PROBLEMS[code].status);
  return applyDecorators(...[...byStatus.values()].map(describe));
}

/** Documents the failure that a decorator adds to a route, the only one with its status. */
export const ApiProblem = (problem: ProblemExample): MethodDecorator => describe([problem]);

/** Of routes that admins may not call either. */
export const OWNER_REQUIRED: ProblemExample = {
  code: 'insufficient_role',
  detail: 'This needs the role owner; yours is member.',
  extensions: { requiredRole: 'owner', yourRole: 'member' },
};

export function invalidFields(messages: Record<string, string>): ProblemExample {
  const errors = Object.entries(messages).map(([field, message]) => ({ field, message }));
  return { code: 'validation_failed', errors };
}

/** For changes that have no other parameters or fields: every change refuses `dryRun` that it does not know. */
export const NO_DRY_RUN = invalidFields({ dryRun: 'is not possible for this request' });

/** @param problems of one status */
function describe(problems: ProblemExample[]): MethodDecorator {
  const codes = problems.map(({ code }) => code);
  const { status } = PROBLEMS[codes[0]!];
  const schemas = codes.map((code) => ({ $ref: getSchemaPath(schemaName(code)) }));
  return ApiResponse({
    status,
    description: `${codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('. ')}.`,
    headers: headerRefs('X-Request-Id', ...(MORE_HEADERS[status] ?? [])),
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: schemas.length === 1 ? schemas[0]! : { oneOf: schemas },
        examples: Object.fromEntries(problems.map((problem) => [problem.code, exampleOf(problem)])),
      },
    },
  });
}

/** Only where it differs from the default of its code. */
function exampleOf(problem: ProblemExample): object {
  const isOwn =
    problem.detail !== undefined || problem.errors !== undefined || problem.extensions !== undefined;
  return isOwn ? problemExample(problem) : { $ref: `#/components/examples/${problem.code}` };
}

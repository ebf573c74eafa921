import { type INestApplication, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { RouteAccess } from '../access/route-access.js';
import { FORM } from '../problems/media-types.js';
import { PROBLEMS } from '../problems/problem-codes.js';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem-details.js';
import { ownProblems } from './api-problems.decorator.js';
import { type Handler, handlersOf } from './handlers.js';
import { type BodyKind, impliedProblems } from './implied-problems.js';
import { type Operation, operationsOf, type Response } from './operations.js';
import { type ProblemExample, problemExample, schemaName } from './problem-schemas.js';
import { BASIC_CHALLENGE, headerRefs, SCOPE_CHALLENGE } from './response-headers.js';

const EVERYWHERE: ProblemExample[] = [
  { code: 'internal_error' },
  { code: 'unavailable' },
  { code: 'storage_full' },
];

const MORE_HEADERS: Record<number, Parameters<typeof headerRefs>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Adds the failures of each operation: what its guards refuse, by what they read, and what its handler declares. */
export function addProblemResponses(document: OpenAPIObject, app: INestApplication): void {
  const handlers = handlersOf(app);
  const reflector = app.get(Reflector);
  for (const { operationId = '', requestBody, responses } of operationsOf(document)) {
    const handler = handlers.get(operationId)!;
    const byStatus = Map.groupBy(
      problemsOf(handler, bodyOf(handler, requestBody), reflector),
      ({ code }) => PROBLEMS[code].status,
    );
    for (const [status, problems] of byStatus) responses[status] = describe(status, problems);
  }
}

/** Returns none for the few routes that need nothing and refuse nobody: liveness, and the public keys. */
function problemsOf(handler: Handler, body: BodyKind, reflector: Reflector): ProblemExample[] {
  const problems = [...impliedProblems(reflector.get(RouteAccess, handler), body), ...ownProblems(handler)];
  if (problems.length === 0) return [];
  return [...new Map([...EVERYWHERE, ...problems].map((problem) => [problem.code, problem])).values()];
}

function bodyOf(handler: Handler, documented: Operation['requestBody']): BodyKind {
  if (Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET) return 'none';
  return documented && 'content' in documented && FORM in documented.content ? 'form' : 'json';
}

function describe(status: number, problems: ProblemExample[]): Response {
  const codes = problems.map(({ code }) => code);
  const schemas = codes.map((code) => ({ $ref: getSchemaPath(schemaName(code)) }));
  return {
    description: `${codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('. ')}.`,
    headers: {
      ...headerRefs('X-Request-Id', ...(MORE_HEADERS[status] ?? [])),
      ...(problems.some(isOfToken) && SCOPE_CHALLENGE),
      ...(codes.includes('invalid_client') && BASIC_CHALLENGE),
    },
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: schemas.length === 1 ? schemas[0]! : { oneOf: schemas },
        examples: Object.fromEntries(problems.map((problem) => [problem.code, exampleOf(problem)])),
      },
    },
  };
}

/** The scope that a service lacks is named in `requiredScope`. */
function isOfToken({ code, extensions }: ProblemExample): boolean {
  return code === 'insufficient_scope' && extensions === undefined;
}

/** Refers to the shared example of the code unless this problem differs from it. */
function exampleOf(problem: ProblemExample): object {
  const isOwn =
    problem.detail !== undefined || problem.errors !== undefined || problem.extensions !== undefined;
  return isOwn ? problemExample(problem) : { $ref: `#/components/examples/${problem.code}` };
}

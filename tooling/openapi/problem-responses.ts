import { type INestApplication, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import {
  type Access,
  admitsUnverified,
  BOUND_TOKEN,
  needsUser,
  RECENT_LOGIN,
  RouteAccess,
  takesBoundTokens,
  UNVERIFIED,
} from '#src/access/route-access';
import { Env } from '#src/config/env';
import type { Role } from '#src/access/principal';
import { invalidFields, ownProblems, type ProblemExample, toExamples } from '#src/openapi/decorators';
import { type Operation, operationsOf, type Response } from './document-parts.ts';
import { problemExample, schemaName } from './problem-schemas.ts';
import { type ProblemCode, PROBLEMS } from '#src/problems/problem-codes';
import { FORM_MEDIA_TYPE, FORM_NEEDED, OAUTH_ERRORS, PROBLEM_MEDIA_TYPE } from '#src/problems/problem';
import { type Handler, handlersOf } from './caller-documents.ts';
import { BASIC_CHALLENGE, headerRefs, SCOPE_CHALLENGE } from './responses.ts';

type BodyKind = 'none' | 'json' | 'form';

const DRY_RUN_PROBLEM = invalidFields({ dryRun: 'is not supported by this request' });

const BODY_PROBLEMS: Record<BodyKind, (ProblemCode | ProblemExample)[]> = {
  none: [],
  json: [DRY_RUN_PROBLEM, 'malformed_json', 'body_too_large', 'unsupported_media_type'],
  form: [DRY_RUN_PROBLEM, 'body_too_large', { code: 'unsupported_media_type', detail: FORM_NEEDED }],
};

const MIN_ROLE_PROBLEMS: Record<Role, (ProblemCode | ProblemExample)[]> = {
  member: [],
  admin: ['insufficient_role'],
  owner: [
    {
      code: 'insufficient_role',
      detail: 'This needs the role owner; yours is member.',
      extensions: { requiredRole: 'owner', yourRole: 'member' },
    },
  ],
};

function refusedTo(access: Access, env: Env): (ProblemCode | ProblemExample)[] {
  if (access.to === 'everyone') return [];
  if (access.to === 'services') {
    if (access.scope === undefined) return ['invalid_client'];
    return ['invalid_client', { code: 'insufficient_scope', extensions: { requiredScope: access.scope } }];
  }
  const refusals: (ProblemCode | ProblemExample)[] = ['unauthorized', 'invalid_token'];
  if (!takesBoundTokens(access)) refusals.push({ code: 'insufficient_scope', detail: BOUND_TOKEN });
  if (!admitsUnverified(access)) refusals.push({ code: 'email_not_verified', detail: UNVERIFIED });
  if (access.to === 'operators') refusals.push('operator_required');
  if (access.to === 'members')
    refusals.push(
      'org_not_found',
      'not_a_member',
      ...(access.evenSuspended ? [] : (['second_factor_required_by_org'] as const)),
      ...MIN_ROLE_PROBLEMS[access.minRole],
    );
  if (!access.assurance) return refusals;
  const { login } = access.assurance(env);
  if (!login) return [...refusals, 'direct_session_required'];
  const code = 'insufficient_user_authentication';
  return [...refusals, login.secondFactor ? code : { code, detail: RECENT_LOGIN }];
}

const MORE_HEADERS: Record<number, Parameters<typeof headerRefs>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

export function addProblemResponses(document: OpenAPIObject, app: INestApplication): void {
  const handlers = handlersOf(app);
  for (const { operationId = '', requestBody, responses } of operationsOf(document)) {
    const handler = handlers.get(operationId)!;
    const byStatus = Map.groupBy(
      problemsOf(handler, bodyOf(handler, requestBody), app).map(
        operationId === TOKEN_REQUEST ? withOAuthError : (problem) => problem,
      ),
      ({ code }) => PROBLEMS[code].status,
    );
    for (const [status, problems] of byStatus) responses[status] = describe(status, problems);
  }
}

const TOKEN_REQUEST = 'issueServiceToken';

/** RFC 6749 section 5.2 */
function withOAuthError(problem: ProblemExample): ProblemExample {
  if (problem.code in OAUTH_ERRORS || PROBLEMS[problem.code].status >= 500) return problem;
  return { ...problem, extensions: { ...problem.extensions, error: 'invalid_request' } };
}

function problemsOf(handler: Handler, body: BodyKind, app: INestApplication): ProblemExample[] {
  const access = app.get(Reflector).get(RouteAccess, handler);
  const isLimited = body !== 'none' && needsUser(access);
  const problems = toExamples([
    ...BODY_PROBLEMS[body],
    ...refusedTo(access, app.get(Env)),
    ...(isLimited ? (['rate_limited'] as const) : []),
    ...ownProblems(handler),
  ]);
  const everywhere = toExamples(['internal_error', 'unavailable', 'storage_full']);
  return [...new Map([...everywhere, ...problems].map((problem) => [problem.code, problem])).values()];
}

function bodyOf(handler: Handler, documented: Operation['requestBody']): BodyKind {
  if (Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET) return 'none';
  return documented && 'content' in documented && FORM_MEDIA_TYPE in documented.content ? 'form' : 'json';
}

function describe(status: number, problems: ProblemExample[]): Response {
  const codes = problems.map(({ code }) => code);
  const isTokenRefused = problems.some(
    ({ code, extensions }) => code === 'insufficient_scope' && extensions === undefined,
  );
  const schemas = codes.map((code) => ({ $ref: getSchemaPath(schemaName(code)) }));
  return {
    description: problems.map((problem) => `\`${problem.code}\`: ${meaningOf(problem)}`).join(' '),
    headers: {
      ...headerRefs('X-Request-Id', ...(MORE_HEADERS[status] ?? [])),
      ...(isTokenRefused && SCOPE_CHALLENGE),
      ...(codes.includes('invalid_client') && BASIC_CHALLENGE),
    },
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: schemas.length === 1 ? schemas[0]! : unionOf(codes),
        examples: Object.fromEntries(problems.map((problem) => [problem.code, exampleOf(problem)])),
      },
    },
  };
}

function meaningOf({ code, detail }: ProblemExample): string {
  return detail === BOUND_TOKEN ? BOUND_TOKEN : `${PROBLEMS[code].meaning}.`;
}

function unionOf(codes: ProblemCode[]): object {
  const mapping = Object.fromEntries(codes.map((code) => [code, getSchemaPath(schemaName(code))]));
  const oneOf = Object.values(mapping).map(($ref) => ({ $ref }));
  return { oneOf, discriminator: { propertyName: 'code', mapping } };
}

function exampleOf(problem: ProblemExample): object {
  const isOwn = Object.keys(problem).length > 1;
  return isOwn ? problemExample(problem) : { $ref: `#/components/examples/${problem.code}` };
}

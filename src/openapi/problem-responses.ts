import { type INestApplication, RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import {
  type Access,
  type Assurance,
  BOUND_TOKEN,
  needsUser,
  RouteAccess,
  takesBoundTokens,
} from '../access/route-access.js';
import type { Role } from '../access/principal.js';
import { invalidFields, type Operation, operationsOf, ownProblems, type Response } from './decorators.js';
import { type ProblemExample, problemExample, schemaName } from './problem-schemas.js';
import { PROBLEMS } from '../problems/problem-codes.js';
import { FORM_MEDIA_TYPE, FORM_NEEDED, PROBLEM_MEDIA_TYPE } from '../problems/problem.js';
import { type Handler, handlersOf } from './caller-documents.js';
import { BASIC_CHALLENGE, headerRefs, SCOPE_CHALLENGE } from './responses.js';

export type BodyKind = 'none' | 'json' | 'form';

// WriteControlsGuard refuses it.
const DRY_RUN_PROBLEM = invalidFields({ dryRun: 'is not supported by this request' });

const UNREAD_PROBLEMS: ProblemExample[] = [{ code: 'body_too_large' }, { code: 'unsupported_media_type' }];
const UNREAD_FORM_PROBLEMS: ProblemExample[] = [
  { code: 'body_too_large' },
  { code: 'unsupported_media_type', detail: FORM_NEEDED },
];

const BODY_PROBLEMS: Record<BodyKind, ProblemExample[]> = {
  none: [],
  json: [DRY_RUN_PROBLEM, { code: 'malformed_json' }, ...UNREAD_PROBLEMS],
  form: [DRY_RUN_PROBLEM, ...UNREAD_FORM_PROBLEMS],
};

/** refused by WriteLimitGuard */
const CHANGE_PROBLEMS: ProblemExample[] = [{ code: 'rate_limited' }];

const TOKEN_PROBLEMS: ProblemExample[] = [{ code: 'unauthorized' }, { code: 'invalid_token' }];

const ORG_PROBLEMS: ProblemExample[] = [{ code: 'org_not_found' }, { code: 'not_a_member' }];

const OPERATOR_PROBLEMS: ProblemExample[] = [
  { code: 'operator_required' },
  { code: 'insufficient_user_authentication' },
];

const MIN_ROLE_PROBLEMS: Record<Role, ProblemExample[]> = {
  member: [],
  admin: [{ code: 'insufficient_role' }],
  owner: [
    {
      code: 'insufficient_role',
      detail: 'This needs the role owner; yours is member.',
      extensions: { requiredRole: 'owner', yourRole: 'member' },
    },
  ],
};

/** @returns the problems of a request before the handler runs */
export function impliedProblems(access: Access, body: BodyKind): ProblemExample[] {
  return [
    ...BODY_PROBLEMS[body],
    ...refusedTo(access),
    ...(body !== 'none' && needsUser(access) ? CHANGE_PROBLEMS : []),
  ];
}

function assuranceProblems({ assurance }: { assurance?: Assurance }): ProblemExample[] {
  return assurance ? [{ code: 'password_session_required' }] : [];
}

function refusedTo(access: Access): ProblemExample[] {
  if (access.to === 'everyone') return [];
  if (access.to === 'services') {
    const extensions = { requiredScope: access.scope };
    return [{ code: 'invalid_client' }, { code: 'insufficient_scope', extensions }];
  }
  return [
    ...TOKEN_PROBLEMS,
    ...(takesBoundTokens(access) ? [] : [{ code: 'insufficient_scope', detail: BOUND_TOKEN } as const]),
    ...(access.to === 'members' ? [...ORG_PROBLEMS, ...MIN_ROLE_PROBLEMS[access.minRole]] : []),
    ...(access.to === 'operators' ? OPERATOR_PROBLEMS : assuranceProblems(access)),
  ];
}

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

/** @returns none for the routes that reject nobody: liveness and public keys */
function problemsOf(handler: Handler, body: BodyKind, reflector: Reflector): ProblemExample[] {
  const problems = [...impliedProblems(reflector.get(RouteAccess, handler), body), ...ownProblems(handler)];
  if (problems.length === 0) return [];
  return [...new Map([...EVERYWHERE, ...problems].map((problem) => [problem.code, problem])).values()];
}

function bodyOf(handler: Handler, documented: Operation['requestBody']): BodyKind {
  if (Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.GET) return 'none';
  return documented && 'content' in documented && FORM_MEDIA_TYPE in documented.content ? 'form' : 'json';
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

/** A service gets `requiredScope`. */
function isOfToken({ code, extensions }: ProblemExample): boolean {
  return code === 'insufficient_scope' && extensions === undefined;
}

function exampleOf(problem: ProblemExample): object {
  const isOwn =
    problem.detail !== undefined || problem.errors !== undefined || problem.extensions !== undefined;
  return isOwn ? problemExample(problem) : { $ref: `#/components/examples/${problem.code}` };
}

import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem-details.js';
import { pascalCase } from './problem-schemas.js';
import { headerRefs, LIMIT_HEADERS } from './response-headers.js';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type Response = Exclude<Operation['responses'][string], undefined | { $ref: string }>;

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** Answered before the limits are checked; `invalid_token` also after, where the session ends meanwhile. */
const BEFORE_LIMITS = new Set(['body_too_large', 'unsupported_media_type', 'unauthorized']);

/** Adds what all responses have in common, and moves failures that operations share into the components. */
export function completeResponses(document: OpenAPIObject): void {
  const failures: Record<string, Response> = {};
  for (const operation of operationsOf(document)) {
    for (const [status, response] of inlineResponses(operation)) {
      complete(status, response, '429' in operation.responses);
      if (codesOf(response).length === 0) continue;
      const name = nameOf(operation, status, response);
      failures[name] = response;
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  document.components = { ...document.components, responses: failures };
}

function complete(status: string, response: Response, isLimited: boolean): void {
  const codes = codesOf(response);
  const comesAfterLimits =
    isLimited && (codes.length === 0 || codes.some((code) => !BEFORE_LIMITS.has(code)));
  response.description ||= STATUS_CODES[status] ?? '';
  response.headers = {
    ...headerRefs('X-Request-Id'),
    ...(comesAfterLimits && LIMIT_HEADERS),
    ...response.headers,
  };
}

/** By its codes, so that equal failures share a name; by its operation where an example is its own. */
function nameOf({ operationId = '' }: Operation, status: string, response: Response): string {
  const isShared = Object.values(examplesOf(response)).every((example) => '$ref' in example);
  if (!isShared) return `${pascalCase(operationId)}${(STATUS_CODES[status] ?? '').replaceAll(' ', '')}`;
  const suffix = 'RateLimit' in (response.headers ?? {}) ? 'UnderLimit' : '';
  return `${codesOf(response).map(pascalCase).join('Or')}${suffix}`;
}

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
}

const inlineResponses = ({ responses }: Operation): [string, Response][] =>
  Object.entries(responses).filter(
    (entry): entry is [string, Response] => entry[1] !== undefined && !('$ref' in entry[1]),
  );

const examplesOf = (response: Response): Record<string, object> =>
  response.content?.[PROBLEM_MEDIA_TYPE]?.examples ?? {};

const codesOf = (response: Response): string[] => Object.keys(examplesOf(response));

import { STATUS_CODES } from 'node:http';
import type { OpenAPIObject } from '@nestjs/swagger';
import { PROBLEM_MEDIA_TYPE } from '../problems/problem-details.js';
import { type Operation, operationsOf, type Response } from './operations.js';
import { pascalCase } from './problem-schemas.js';
import {
  CHANGED_ETAG_HEADER,
  DRY_RUN_HEADER,
  headerRefs,
  LIMIT_HEADERS,
  REPLAYED_HEADER,
} from './response-headers.js';
import { takesCredentials } from './service-credentials.js';
import { DRY_RUN_PARAMETER, IDEMPOTENCY_KEY_PARAMETER } from './write-parameters.js';

/** codes answered before limits are checked; `invalid_token` also comes after, if the session ends meanwhile */
const BEFORE_LIMITS = new Set(['body_too_large', 'unsupported_media_type', 'unauthorized']);

/** Adds what all responses have in common, and moves failures and what has many headers into the components. */
export function completeResponses(document: OpenAPIObject): void {
  const responses: Record<string, Response> = {};
  for (const operation of operationsOf(document)) {
    for (const [status, response] of inlineResponses(operation)) {
      complete(status, response, operation);
      if (codesOf(response).length === 0 && Object.keys(response.headers ?? {}).length === 1) continue;
      const name = nameOf(operation, status, response);
      responses[name] = response;
      operation.responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  document.components = { ...document.components, responses };
}

function complete(status: string, response: Response, operation: Operation): void {
  const codes = codesOf(response);
  // Services have no limit in time: they are answered 429 where too many of their requests wait.
  const comesAfterLimits =
    '429' in operation.responses &&
    !takesCredentials(operation) &&
    (codes.length === 0 || codes.some((code) => !BEFORE_LIMITS.has(code)));
  response.description ||= STATUS_CODES[status] ?? '';
  response.headers = {
    ...headerRefs('X-Request-Id'),
    ...(comesAfterLimits && LIMIT_HEADERS),
    ...(takes(operation, DRY_RUN_PARAMETER) && DRY_RUN_HEADER),
    ...(status.startsWith('2') &&
      takes(operation, IDEMPOTENCY_KEY_PARAMETER) && { ...CHANGED_ETAG_HEADER, ...REPLAYED_HEADER }),
    ...response.headers,
  };
}

function takes({ parameters = [] }: Operation, { name }: { name: string }): boolean {
  return parameters.some((parameter) => 'name' in parameter && parameter.name === name);
}

/** Names a response by its codes, so that equal failures share it, or by its operation if an example is its own. */
function nameOf({ operationId = '' }: Operation, status: string, response: Response): string {
  const examples = Object.values(examplesOf(response));
  const isShared = examples.length > 0 && examples.every((example) => '$ref' in example);
  if (!isShared) return `${pascalCase(operationId)}${(STATUS_CODES[status] ?? '').replaceAll(' ', '')}`;
  const { headers = {} } = response;
  const suffix = ('RateLimit' in headers ? 'UnderLimit' : '') + ('Dry-Run' in headers ? 'OrDryRun' : '');
  return `${codesOf(response).map(pascalCase).join('Or')}${suffix}`;
}

const inlineResponses = ({ responses }: Operation): [string, Response][] =>
  Object.entries(responses).filter(
    (entry): entry is [string, Response] => entry[1] !== undefined && !('$ref' in entry[1]),
  );

const examplesOf = (response: Response): Record<string, object> =>
  response.content?.[PROBLEM_MEDIA_TYPE]?.examples ?? {};

const codesOf = (response: Response): string[] => Object.keys(examplesOf(response));

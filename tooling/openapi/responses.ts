import type { OpenAPIObject } from '@nestjs/swagger';
import { STATUS_CODES } from 'node:http';
import { EXCHANGE_KEY, pascalCase, WRITE_PARAMETERS } from '#src/openapi/decorators';
import { isParameter, type Operation, operationsOf, type Response } from './document-parts.ts';
import { PROBLEM_MEDIA_TYPE } from '#src/problems/problem';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;

export const RESPONSE_HEADERS = {
  'Retry-After': {
    description: 'Seconds after which the request may be repeated.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'Authentication challenge (RFC 6750 section 3).',
    required: true,
    schema: { type: 'string', pattern: '^Bearer' },
    example: 'Bearer error="invalid_token", error_description="The access token is not valid"',
  },
  'X-Request-Id': {
    description:
      'Id of the request in the log: the id that the client sent, if it was well formed, else a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
    example: '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11',
  },
} satisfies Headers;

export const headerRefs = (...names: (keyof typeof RESPONSE_HEADERS)[]): Headers =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const SCOPE_CHALLENGE: Headers = {
  'WWW-Authenticate': {
    description: 'Present if the access token does not admit to this operation (RFC 6750 section 3.1).',
    schema: { type: 'string', enum: ['Bearer error="insufficient_scope"'] },
    example: 'Bearer error="insufficient_scope"',
  },
};

export const BASIC_CHALLENGE: Headers = {
  'WWW-Authenticate': {
    description: 'Authentication challenge (RFC 7617 section 2).',
    required: true,
    schema: { type: 'string', pattern: '^Basic ' },
    example: 'Basic realm="services", charset="UTF-8"',
  },
};

const LIMIT_HEADERS: Headers = {
  RateLimit: {
    description: 'Requests left under each limit, and seconds until more are accepted.',
    schema: { type: 'string', pattern: '^"[a-z]+";r=\\d+;t=\\d+(, "[a-z]+";r=\\d+;t=\\d+)*$' },
    example: '"login";r=9;t=900',
  },
  'RateLimit-Policy': {
    description: 'Number of requests and window in seconds of each limit.',
    schema: { type: 'string', pattern: '^"[a-z]+";q=\\d+;w=\\d+(, "[a-z]+";q=\\d+;w=\\d+)*$' },
    example: '"login";q=10;w=900',
  },
};

const mark = (name: string, description: string): Headers => ({
  [name]: { description, schema: { type: 'string', enum: ['true'] }, example: 'true' },
});

const DRY_RUN_HEADER = mark('Dry-Run', 'Present if the request was a dry run, which changed nothing.');

const REPLAYED_HEADER = mark(
  'Idempotency-Replayed',
  'Present if this response repeats the first one to the `Idempotency-Key`.',
);

const CHANGED_ETAG_HEADER: Headers = {
  ETag: {
    description:
      'State of the organization after the change, for `If-Match` of the next change. Absent from dry runs, ' +
      'repeated responses and declined invitations.',
    schema: { type: 'string', pattern: '^"\\d+"$' },
    example: '"7"',
  },
};

function takesCredentials({ security = [] }: Operation): boolean {
  return security.some((need) => 'basic' in need);
}

/** Limits are checked after these. `invalid_token` also comes later, if the session ends meanwhile. */
const BEFORE_LIMITS = new Set(['body_too_large', 'unsupported_media_type', 'unauthorized']);

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
  // Services have no rate limit: they get 429 if too many of their requests wait.
  const comesAfterLimits =
    '429' in operation.responses &&
    !takesCredentials(operation) &&
    (codes.length === 0 || codes.some((code) => !BEFORE_LIMITS.has(code)));
  response.description ||= STATUS_CODES[status] ?? '';
  response.headers = {
    ...headerRefs('X-Request-Id'),
    ...(comesAfterLimits && LIMIT_HEADERS),
    ...(takes(operation, WRITE_PARAMETERS.dryRun) && DRY_RUN_HEADER),
    ...(status.startsWith('2') &&
      takes(operation, WRITE_PARAMETERS.idempotencyKey) && { ...CHANGED_ETAG_HEADER, ...REPLAYED_HEADER }),
    ...(status.startsWith('2') && takes(operation, EXCHANGE_KEY) && REPLAYED_HEADER),
    ...response.headers,
  };
}

function takes({ parameters = [] }: Operation, expected: { name: string; description: string }): boolean {
  return parameters.some((parameter) => isParameter(parameter, expected));
}

const SHARED: Record<string, string> = {
  'unauthorized invalid_token': 'Unauthorized',
  'unauthorized invalid_token insufficient_user_authentication': 'OperatorUnauthorized',
  'unavailable storage_full': 'Unavailable',
};

function nameOf({ operationId = '' }: Operation, status: string, response: Response): string {
  const codes = codesOf(response);
  const examples = Object.values(examplesOf(response));
  const isShared = examples.length > 0 && examples.every((example) => '$ref' in example);
  const meaning = SHARED[codes.join(' ')] ?? (codes.length === 1 ? pascalCase(codes[0]!) : undefined);
  if (!isShared || meaning === undefined) return `${pascalCase(operationId)}${status}`;
  const { headers = {} } = response;
  return `${'Dry-Run' in headers ? 'DryRun' : ''}${'RateLimit' in headers ? 'Limited' : ''}${meaning}`;
}

const inlineResponses = ({ responses }: Operation): [string, Response][] =>
  Object.entries(responses).filter(
    (entry): entry is [string, Response] => entry[1] !== undefined && !('$ref' in entry[1]),
  );

const examplesOf = (response: Response): Record<string, object> =>
  response.content?.[PROBLEM_MEDIA_TYPE]?.examples ?? {};

const codesOf = (response: Response): string[] => Object.keys(examplesOf(response));

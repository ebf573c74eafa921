import type { OpenAPIObject } from '@nestjs/swagger';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;

export const RESPONSE_HEADERS = {
  'Retry-After': {
    description: 'seconds after which the request may be repeated',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'authentication challenge (RFC 6750 section 3)',
    required: true,
    schema: { type: 'string', pattern: '^Bearer' },
    example: 'Bearer error="invalid_token", error_description="The access token is not valid"',
  },
  'X-Request-Id': {
    description: 'id of the request in the log; the id that the client sent, if it was well formed',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
    example: '2f6c1a0e-6a1b-4a53-9b57-0c6b4f5d3a11',
  },
} satisfies Headers;

export const headerRefs = (...names: (keyof typeof RESPONSE_HEADERS)[]): Headers =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Optional headers are inline, because some generators forget that a referenced one is optional. */
export const LINK_HEADER: Headers = {
  Link: {
    description: 'link to the next page (RFC 8288); absent on the last page',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
    example: '</api/orgs/019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c/members?limit=100&cursor=MTc5N…>; rel="next"',
  },
};

export const SCOPE_CHALLENGE: Headers = {
  'WWW-Authenticate': {
    description: 'present if the token is good for less than this (RFC 6750 section 3.1)',
    schema: { type: 'string', enum: ['Bearer error="insufficient_scope"'] },
    example: 'Bearer error="insufficient_scope"',
  },
};

export const BASIC_CHALLENGE: Headers = {
  'WWW-Authenticate': {
    description: 'authentication challenge (RFC 7617 section 2)',
    required: true,
    schema: { type: 'string', pattern: '^Basic ' },
    example: 'Basic realm="services", charset="UTF-8"',
  },
};

/** sent only if a limit applies (draft-ietf-httpapi-ratelimit-headers) */
export const LIMIT_HEADERS: Headers = {
  RateLimit: {
    description: 'requests left under each limit, and seconds until more are accepted',
    schema: { type: 'string', pattern: '^"[a-z]+";r=\\d+;t=\\d+(, "[a-z]+";r=\\d+;t=\\d+)*$' },
    example: '"login";r=9;t=900',
  },
  'RateLimit-Policy': {
    description: 'number of requests and window in seconds of each limit',
    schema: { type: 'string', pattern: '^"[a-z]+";q=\\d+;w=\\d+(, "[a-z]+";q=\\d+;w=\\d+)*$' },
    example: '"login";q=10;w=900',
  },
};

export const DRY_RUN_HEADER: Headers = {
  'Dry-Run': {
    description: 'present if the request was a dry run, which changed nothing',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
};

export const REPLAYED_HEADER: Headers = {
  'Idempotency-Replayed': {
    description: 'present if this answer repeats the first one to the `Idempotency-Key`',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
};

export const CHANGED_ETAG_HEADER: Headers = {
  ETag: {
    description:
      'state of the organization after the change, for `If-Match` of the next change; absent from dry runs, repeated ' +
      'answers and declined invitations',
    schema: { type: 'string', pattern: '^"\\d+"$' },
    example: '"7"',
  },
};

export const ETAG_HEADER: Headers = {
  ETag: {
    description: 'state of the organization and its members, for `If-Match`',
    required: true,
    schema: { type: 'string', pattern: '^"\\d+"$' },
    example: '"7"',
  },
};

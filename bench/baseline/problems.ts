import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

const CODES = new Map([
  [400, 'malformed_json'],
  [413, 'body_too_large'],
  [415, 'unsupported_media_type'],
]);

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly extensions: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: string,
    detail: string,
    extensions: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.extensions = extensions;
    this.headers = headers;
  }
}

export function invalid(field: string, message: string): Problem {
  return new Problem(400, 'validation_failed', 'One or more fields are invalid; see errors.', {
    errors: [{ field, message }],
  });
}

export function conflict(): Problem {
  return new Problem(503, 'unavailable', 'Repeat the request.', {}, { 'Retry-After': '1' });
}

export function unauthorized(tokenSent: boolean): Problem {
  const detail = 'A valid token is required.';
  return tokenSent
    ? new Problem(401, 'invalid_token', detail, {}, { 'WWW-Authenticate': 'Bearer error="invalid_token"' })
    : new Problem(401, 'unauthorized', detail, {}, { 'WWW-Authenticate': 'Bearer' });
}

export function sendProblem(
  error: FastifyError | Problem,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = error instanceof Problem ? error : fromFastify(error, request);
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type('application/problem+json')
    .send(
      JSON.stringify({
        type: 'about:blank',
        title: STATUS_CODES[problem.status],
        status: problem.status,
        detail: problem.message,
        code: problem.code,
        requestId: request.id,
        ...problem.extensions,
      }),
    );
}

function fromFastify(error: FastifyError, request: FastifyRequest): Problem {
  const { statusCode = 500, message } = error;
  if (statusCode < 500) return new Problem(statusCode, CODES.get(statusCode) ?? 'bad_request', message);
  request.log.error(error);
  return new Problem(500, 'internal_error', 'The request could not be completed.');
}

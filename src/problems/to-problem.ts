import { HttpException } from '@nestjs/common';
import { PROBLEMS, type ProblemCode } from './problem-codes.js';
import { Problem } from './problem.js';

/** The answer for what the framework refuses by itself, by its status. */
const BY_STATUS: Record<number, { code: ProblemCode; detail: string }> = {
  400: { code: 'bad_request', detail: 'The request could not be understood.' },
  401: { code: 'unauthorized', detail: 'Send an access token: Authorization: Bearer <token>.' },
  403: { code: 'forbidden', detail: 'This is not allowed.' },
  404: { code: 'not_found', detail: 'No route has this path.' },
  405: { code: 'method_not_allowed', detail: 'The path does not allow this method.' },
  408: { code: 'request_timeout', detail: 'The request did not arrive in time.' },
  413: { code: 'body_too_large', detail: 'The body may have at most 16 KiB.' },
  414: { code: 'uri_too_long', detail: 'The URL is too long.' },
  415: { code: 'unsupported_media_type', detail: 'Send the body as application/json.' },
  431: { code: 'headers_too_large', detail: 'The request headers are too large.' },
  503: { code: 'unavailable', detail: 'The service cannot answer right now; repeat the request.' },
};

/** Turns anything thrown into a problem; what nobody foresaw becomes a 500 that says nothing of the inside. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const known = BY_STATUS[statusOf(error) ?? 500];
  if (known) return new Problem(known.code, known.detail, { cause: error });
  return new Problem('internal_error', `${PROBLEMS.internal_error.meaning}; the log names this request.`, {
    cause: error,
  });
}

/** The HTTP status that an error of the framework names. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    return error.statusCode;
  }
  return undefined;
}

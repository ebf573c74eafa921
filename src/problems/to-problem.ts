import { HttpException } from '@nestjs/common';
import type { ProblemCode } from './problem-codes.js';
import { Problem, UnavailableError } from './problem.js';

/** codes for errors of the framework */
const BY_STATUS: Record<number, ProblemCode> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'body_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  431: 'headers_too_large',
};

/** Unforeseen errors become a 500 that reveals nothing. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = statusOf(error) ?? 500;
  if (status === 503)
    return new UnavailableError('The service cannot answer right now; repeat the request.', 1, error);
  return new Problem(BY_STATUS[status] ?? 'internal_error', { cause: error });
}

export function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    return error.statusCode;
  }
  return undefined;
}

import { HttpException } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import { type ProblemCode, PROBLEMS } from './problem-codes.js';

export interface FieldError {
  field: string;
  message: string;
}

export type Remedy =
  | { action: 'resend'; invitationId: string }
  | { action: 'transfer'; orgIds?: string[] }
  | { action: 'enroll_second_factor' };

export interface ProblemOptions {
  /** public text, never a secret; by default the text of the code */
  detail?: string;
  headers?: Record<string, string>;
  extensions?: Record<string, unknown>;
  remedy?: Remedy;
  reason?: string;
  limit?: string;
  /** the user of a request without a token, for the log, never sent to the client */
  userId?: string | undefined;
  cause?: unknown;
}

export class Problem extends Error {
  readonly status: number;
  readonly detail: string;
  readonly headers: Record<string, string>;
  readonly extensions: Record<string, unknown>;

  constructor(
    readonly code: ProblemCode,
    readonly options: ProblemOptions = {},
  ) {
    const { detail = PROBLEMS[code].detail, headers = {}, extensions = {}, cause } = options;
    super(detail, { cause });
    this.name = new.target.name;
    this.status = PROBLEMS[code].status;
    this.detail = detail;
    this.headers = headers;
    this.extensions = extensions;
  }
}

export function undeclaredParameter(declared: readonly string[]): FieldError {
  const taken = declared.length === 0 ? 'none' : `only ${declared.join(', ')}`;
  return { field: 'query', message: `has an unknown parameter; this operation accepts ${taken}` };
}

export class ValidationProblem extends Problem {
  constructor(
    private readonly errors: FieldError[],
    code: ProblemCode = 'validation_failed',
  ) {
    super(code, { extensions: { errors } });
  }

  get fields(): string[] {
    return this.errors.map(({ field }) => field);
  }
}

export class UnavailableError extends Problem {
  constructor(detail: string, retryAfterSeconds = 1, cause?: unknown) {
    super('unavailable', { detail, headers: { 'Retry-After': String(retryAfterSeconds) }, cause });
  }
}

/** A rule refuses an operation of an operator. HTTP answers with the problem; a command prints the message. */
export class RefusedError extends Problem {
  constructor(message: string, code?: ProblemCode, options?: ProblemOptions) {
    super(code ?? 'internal_error', options);
    this.message = code === undefined ? message : `${message} (${code})`;
  }
}

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
    return new UnavailableError('Accounts cannot respond right now. Repeat the request.', 1, error);
  return new Problem(BY_STATUS[status] ?? 'internal_error', { cause: error });
}

export function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') {
    return error.statusCode;
  }
  return undefined;
}

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';
export const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded';
export const FORM_NEEDED = `Send the body as ${FORM_MEDIA_TYPE}.`;

/** RFC 6749 section 5.2, RFC 8693 section 2.2.2. Other problems of a request for a token are `invalid_request`. */
export const OAUTH_ERRORS: Partial<Record<ProblemCode, string>> = {
  invalid_client: 'invalid_client',
  unsupported_grant_type: 'unsupported_grant_type',
  invalid_subject_token: 'invalid_request',
  invalid_target: 'invalid_target',
};

/** RFC 9457 section 3. With `about:blank` the title is the status phrase. */
export function problemDetails(
  problem: Problem,
  requestId: string,
  isTokenRequest = false,
): Record<string, unknown> {
  const isBadRequest = isTokenRequest && problem.status < 500;
  const error = OAUTH_ERRORS[problem.code] ?? (isBadRequest ? 'invalid_request' : undefined);
  return {
    type: 'about:blank',
    title: STATUS_CODES[problem.status],
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    requestId,
    ...(error !== undefined && { error }),
    ...problem.extensions,
  };
}

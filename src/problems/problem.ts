import { PROBLEMS, type ProblemCode } from './problem-codes.js';

export interface FieldError {
  field: string;
  message: string;
}

export interface ProblemOptions {
  /** public text, never a secret; by default that of the code */
  detail?: string;
  headers?: Record<string, string>;
  /** Extension members (RFC 9457 section 3.2). */
  extensions?: Record<string, unknown>;
  cause?: unknown;
}

export class Problem extends Error {
  readonly status: number;
  readonly detail: string;
  readonly headers: Record<string, string>;
  readonly extensions: Record<string, unknown>;

  constructor(
    readonly code: ProblemCode,
    options: ProblemOptions = {},
  ) {
    const detail = options.detail ?? PROBLEMS[code].detail;
    super(detail, { cause: options.cause });
    this.detail = detail;
    this.name = new.target.name;
    this.status = PROBLEMS[code].status;
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
  }
}

export class ValidationProblem extends Problem {
  constructor(errors: FieldError[]) {
    super('validation_failed', { extensions: { errors } });
  }
}

/** A temporary failure: the client may repeat the request after the given seconds. */
export class UnavailableError extends Problem {
  constructor(detail: string, retryAfterSeconds = 1, cause?: unknown) {
    super('unavailable', { detail, headers: { 'Retry-After': String(retryAfterSeconds) }, cause });
  }
}

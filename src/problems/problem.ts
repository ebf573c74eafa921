import { PROBLEMS, type ProblemCode } from './problem-codes.js';

export interface FieldError {
  field: string;
  message: string;
}

export interface ProblemOptions {
  /** Response headers that belong to this failure, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** Extension members of the problem details object (RFC 9457 section 3.2). */
  extensions?: Record<string, unknown>;
  cause?: unknown;
}

/**
 * A failure that the client is told about. `code` fixes the status and title;
 * `detail` is public text and never holds a secret.
 */
export class Problem extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly extensions: Record<string, unknown>;

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    options: ProblemOptions = {},
  ) {
    super(detail, { cause: options.cause });
    this.name = new.target.name;
    this.status = PROBLEMS[code].status;
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
  }
}

export class ValidationProblem extends Problem {
  constructor(errors: FieldError[]) {
    super('validation_failed', 'One or more fields are invalid; see errors.', { extensions: { errors } });
  }
}

/** The service is whole but cannot do this now; the client may repeat the request after the given seconds. */
export class UnavailableError extends Problem {
  constructor(detail: string, retryAfterSeconds = 1, cause?: unknown) {
    super('unavailable', detail, { headers: { 'Retry-After': String(retryAfterSeconds) }, cause });
  }
}

import { PROBLEMS, type ProblemCode } from './problem-codes.js';

export interface FieldError {
  field: string;
  message: string;
}

/** The way out of a refusal, told where the client asks for it. */
export type Remedy =
  | { action: 'resend'; invitationId: string }
  /** @param orgIds where another owner is needed; by default the organization of the request */
  | { action: 'transfer'; orgIds?: string[] };

export interface ProblemOptions {
  /** public text, never a secret; by default that of the code */
  detail?: string;
  headers?: Record<string, string>;
  /** Extension members (RFC 9457 section 3.2). */
  extensions?: Record<string, unknown>;
  remedy?: Remedy;
  /** one word for the log line of the request, never told to the client */
  reason?: string;
  cause?: unknown;
}

export class Problem extends Error {
  readonly status: number;
  readonly detail: string;
  readonly headers: Record<string, string>;
  readonly extensions: Record<string, unknown>;
  readonly remedy: Remedy | undefined;
  readonly reason: string | undefined;

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
    this.remedy = options.remedy;
    this.reason = options.reason;
  }
}

export class ValidationProblem extends Problem {
  /** @param code of what is wrong, where that is one thing and has its own */
  constructor(
    private readonly errors: FieldError[],
    code: ProblemCode = 'validation_failed',
  ) {
    super(code, { extensions: { errors } });
  }

  /** the names, which are ours, of those that are wrong */
  get fields(): string[] {
    return this.errors.map(({ field }) => field);
  }
}

/** A temporary failure: the client may repeat the request after the given seconds. */
export class UnavailableError extends Problem {
  constructor(detail: string, retryAfterSeconds = 1, cause?: unknown) {
    super('unavailable', { detail, headers: { 'Retry-After': String(retryAfterSeconds) }, cause });
  }
}

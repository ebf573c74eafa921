import { PROBLEMS, type ProblemCode } from './problem-codes.js';

export interface FieldError {
  field: string;
  message: string;
}

/** The way out of a refusal, told if the client asks for it. */
export type Remedy =
  | { action: 'resend'; invitationId: string }
  /** `orgIds` names the organizations that need another owner; by default that of the request. */
  | { action: 'transfer'; orgIds?: string[] };

export interface ProblemOptions {
  /** public text, never a secret; by default the text of the code */
  detail?: string;
  headers?: Record<string, string>;
  /** extension members (RFC 9457 section 3.2) */
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
  /** @param code a more exact one, if a single thing is wrong and has its own code */
  constructor(
    private readonly errors: FieldError[],
    code: ProblemCode = 'validation_failed',
  ) {
    super(code, { extensions: { errors } });
  }

  /** names of the invalid fields; they are ours, never a client's text */
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

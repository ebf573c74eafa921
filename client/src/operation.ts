/** The problem of an operation, with its status. */
export type At<Status extends number, P> = P extends unknown ? P & { status: Status } & Delay : never;

export interface Delay {
  /** Seconds after which the client may repeat the request, if Accounts sent `Retry-After`. */
  retryAfter?: number;
}

/** How to send an operation. */
export interface Route {
  method: string;
  path: string;
  /** Names of the input that are query parameters. */
  query?: readonly string[];
  body?: 'json' | 'form';
  /** Names of the members of the body. */
  fields?: readonly string[];
  /** The body is the member `body` of the input, because a parameter and a field have one name. */
  wrapped?: true;
  auth?: 'bearer' | 'basic';
  /** The operation also works without `auth`. */
  anonymous?: true;
  /** The operation accepts an `Idempotency-Key`. */
  keyed?: true;
  /** The operation accepts `If-Match`. */
  conditional?: true;
  /** A retry changes nothing more, says the OpenAPI document. */
  repeatable?: true;
  /** The callers, if they are not clients. */
  callers?: 'admin' | 'service';
  opensSession?: true;
  /** Members of every successful response. */
  answer: readonly string[];
  /** Codes of its problems, separated by spaces. */
  codes: string;
}

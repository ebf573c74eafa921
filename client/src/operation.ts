/** The problem of an operation, with the status that it comes with. */
export type At<Status extends number, P> = P extends unknown ? P & { status: Status } & Delay : never;

export interface Delay {
  /** seconds after which the request may be repeated, where the service says so */
  retryAfter?: number;
}

/** How an operation is sent. */
export interface Route {
  method: string;
  path: string;
  /** names of the input that belong into the query */
  query?: readonly string[];
  body?: 'json' | 'form';
  /** names of the members of the body */
  fields?: readonly string[];
  /** The body is the member `body` of the input, because a parameter has the name of one of its fields. */
  wrapped?: true;
  auth?: 'bearer' | 'basic';
  /** It can be sent without `auth`. */
  anonymous?: true;
  /** It takes an `Idempotency-Key`. */
  keyed?: true;
  /** It takes `If-Match`. */
  conditional?: true;
  /** The document says that repeating it changes nothing more. */
  repeatable?: true;
  /** Who calls it, if not a client. */
  callers?: 'admin' | 'service';
  opensSession?: true;
  /** members that every successful answer has */
  answer: readonly string[];
  /** codes of its problems, separated by blanks */
  codes: string;
}

import { type Operations, ROUTES } from './api.gen.ts';
import { type Answered, type Data, exchange, type Failed } from './exchange.ts';
import { Login } from './login.ts';
import type { Route } from './operation.ts';
import { aborted, type AudienceIgnored, type ClientProblem, type NoCredentials } from './problems.ts';
import { requestOf } from './request.ts';
import type { TokenStore } from './store.ts';
import { pause } from './waiting.ts';

export type OperationId = keyof Operations;

/** Name and secret of a service. */
export interface Credentials {
  name: string;
  /** a function is asked for each request, so that a new secret needs no restart */
  secret: string | (() => string | Promise<string>);
}

export interface ClientOptions {
  /** such as `https://accounts.example.com`, also with a path */
  baseUrl: string;
  /** where the login is kept */
  store: TokenStore;
  /** for the operations of services; no part of a desktop client */
  credentials?: Credentials | undefined;
  /** takes the place of the global `fetch` */
  fetch?: typeof fetch | undefined;
  /** for one attempt, 10 seconds by default; the service answers within five */
  timeoutMs?: number | undefined;
  /** further attempts of requests that the OpenAPI document calls safe to repeat, two by default */
  retries?: number | undefined;
}

interface AnyCallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  retries?: number | undefined;
}
interface ByHeader {
  /** for a change that has to be made once, over several calls or starts of the program; otherwise each call has its own */
  'Idempotency-Key': { idempotencyKey?: string | undefined };
  /** `etag` of what the change is based on */
  'If-Match': { ifMatch?: string | undefined };
}
type HeadersOf<Id extends OperationId> = Operations[Id]['headers'];
export type CallOptions<Id extends OperationId = OperationId> = AnyCallOptions &
  ('Idempotency-Key' extends HeadersOf<Id> ? ByHeader['Idempotency-Key'] : unknown) &
  ('If-Match' extends HeadersOf<Id> ? ByHeader['If-Match'] : unknown);

export type InputOf<Id extends OperationId> = Operations[Id]['input'];
export type DataOf<Id extends OperationId> = Operations[Id]['data'];
/** `code` tells the cases apart; `unknown_code` is one that this version does not know. */
export type ProblemOf<Id extends OperationId> = Operations[Id]['problem'] | ClientProblem;

export interface Success<Body> {
  ok: true;
  status: number;
  data: Body;
  /** of the organization, where the answer has one: `ifMatch` of a change */
  etag: string | undefined;
  /** An earlier request with the same idempotency key had been answered so. */
  replayed: boolean;
  /** Nothing was changed. */
  dryRun: boolean;
  requestId: string | undefined;
}
export type Result<Body, Problem> = Success<Body> | { ok: false; problem: Problem };
export type ResultOf<Id extends OperationId> = Result<DataOf<Id>, ProblemOf<Id>>;

export type Method<Id extends OperationId> =
  Partial<InputOf<Id>> extends InputOf<Id>
    ? (input?: InputOf<Id>, options?: CallOptions<Id>) => Promise<ResultOf<Id>>
    : (input: InputOf<Id>, options?: CallOptions<Id>) => Promise<ResultOf<Id>>;

type Overridden = 'refresh' | 'logOut';
export type Client = { [Id in Exclude<OperationId, Overridden>]: Method<Id> } & {
  /** Gets new tokens now. Every other method does so by itself, when it is time. */
  refresh(options?: CallOptions<'refresh'>): Promise<ResultOf<'refresh'>>;
  /**
   * Forgets the login, even if the service cannot be told now, and ends it there. With a refresh token it ends the login of
   * that one, and forgets nothing.
   */
  logOut(input?: InputOf<'logOut'>, options?: CallOptions<'logOut'>): Promise<ResultOf<'logOut'>>;
  /** Whether the store has a login; it may have ended meanwhile. */
  isLoggedIn(): Promise<boolean>;
};

type AnyResult = Success<Data> | Failed;
type Options = AnyCallOptions & { idempotencyKey?: string | undefined; ifMatch?: string | undefined };

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
const FIRST_WAIT_MS = 200;
/** Whoever is told to wait longer asks the user, not the clock. */
const LONGEST_WAIT_MS = 5_000;

const noCredentials: NoCredentials = {
  code: 'no_credentials',
  status: null,
  detail: 'The operation is for services, and the client has no credentials of one.',
};

/** @throws TypeError where the base URL is none */
export function createClient(options: ClientOptions): Client {
  const calls = new Calls(options);
  const methods = Object.keys(ROUTES).map((id) => [
    id,
    (input: Data = {}, more: Options = {}) => calls.call(id as OperationId, input, more),
  ]);
  return {
    ...(Object.fromEntries(methods) as Client),
    refresh: (more = {}) => calls.refresh(more) as Promise<ResultOf<'refresh'>>,
    logOut: (input = {}, more = {}) => calls.logOut({ ...input }, more) as Promise<ResultOf<'logOut'>>,
    isLoggedIn: async () => (await calls.login.isStored()) === true,
  };
}

class Calls {
  readonly login: Login;
  private readonly base: string;
  private readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
    if (!URL.canParse(options.baseUrl)) throw new TypeError('baseUrl must be the URL of Accounts');
    this.base = new URL(options.baseUrl).href.replace(/\/+$/, '');
    this.login = new Login(options.store, (refreshToken) => this.send(ROUTES.refresh, { refreshToken }, {}));
  }

  async call(id: OperationId, input: Data, options: Options): Promise<AnyResult> {
    const route: Route = ROUTES[id];
    const result = await this.attempts(
      route,
      route.opensSession ? { refresh: true, ...input } : input,
      options,
    );
    if (!result.ok) return result;
    if (route.opensSession) return (await this.login.begin(result.data)) ?? succeeded(result, route);
    if (id === 'deleteAccount' && input['dryRun'] !== true) await this.login.forget();
    if (id === 'issueCode' && result.data['audience'] !== input['audience'])
      return audienceIgnored(result.status);
    return succeeded(result, route);
  }

  async refresh({ signal }: Options): Promise<AnyResult> {
    const result = await this.login.refresh(signal);
    return result.ok ? succeeded(result, ROUTES.refresh) : result;
  }

  async logOut(input: Data, options: Options): Promise<AnyResult> {
    if (input['refreshToken'] !== undefined) return this.call('logOut', input, options);
    const refreshToken = await this.login.forget();
    if (typeof refreshToken === 'object') return refreshToken;
    return this.call('logOut', refreshToken === undefined ? {} : { refreshToken }, options);
  }

  private async attempts(route: Route, input: Data, options: Options): Promise<Answered | Failed> {
    const retries = route.repeatable ? (options.retries ?? this.options.retries ?? RETRIES) : 0;
    const keyed = route.keyed ? { idempotencyKey: crypto.randomUUID(), ...defined(options) } : options;
    for (let attempt = 0; ; attempt += 1) {
      const result = await this.authenticated(route, input, keyed);
      if (result.ok || attempt >= retries || !isPassing(result.problem)) return result;
      const wait = waitMs(result.problem, attempt);
      if (wait > LONGEST_WAIT_MS) return result;
      if (!(await pause(wait, options.signal))) return { ok: false, problem: aborted };
    }
  }

  private async authenticated(route: Route, input: Data, options: Options): Promise<Answered | Failed> {
    if (route.auth === 'basic') return this.asService(route, input, options);
    if (route.auth === undefined || route.anonymous) return this.send(route, input, options);
    const token = await this.login.token(options.signal);
    if (typeof token === 'object') return token;
    const result = await this.send(route, input, options, `Bearer ${token}`);
    if (result.ok || result.problem.code !== 'invalid_token') return result;
    const renewed = await this.login.token(options.signal, token);
    return typeof renewed === 'object' ? renewed : this.send(route, input, options, `Bearer ${renewed}`);
  }

  private async asService(route: Route, input: Data, options: Options): Promise<Answered | Failed> {
    const { credentials } = this.options;
    if (credentials === undefined) {
      return route.anonymous ? this.send(route, input, options) : { ok: false, problem: noCredentials };
    }
    const authorization = await basicOf(credentials);
    if (typeof authorization === 'object') return authorization;
    return this.send(route, input, options, authorization);
  }

  private send(
    route: Route,
    input: Data,
    options: Options,
    authorization?: string,
  ): Promise<Answered | Failed> {
    const request = requestOf(route, input);
    if ('problem' in request) return Promise.resolve({ ok: false, problem: request.problem });
    const { path, headers, body } = request;
    if (authorization !== undefined) headers['Authorization'] = authorization;
    if (options.idempotencyKey !== undefined) headers['Idempotency-Key'] = options.idempotencyKey;
    if (options.ifMatch !== undefined) headers['If-Match'] = options.ifMatch;
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS;
    const http = { url: this.base + path, headers, body };
    return exchange(this.options.fetch ?? fetch, route, http, { timeoutMs, signal: options.signal });
  }
}

/** The end of the line in a file belongs to no secret. */
async function basicOf({ name, secret }: Credentials): Promise<string | Failed> {
  try {
    const text = typeof secret === 'string' ? secret : await secret();
    return `Basic ${btoa(`${name}:${text.trim()}`)}`;
  } catch (cause) {
    const unread: NoCredentials = { ...noCredentials, cause };
    return { ok: false, problem: unread };
  }
}

function defined(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** Whether it may be over soon: nothing was answered, or only by a proxy, or the service says so itself. */
function isPassing({ code, status }: Failed['problem']): boolean {
  if (code === 'unreachable' || code === 'timed_out' || code === 'unavailable') return true;
  return code === 'not_json' && status !== null && status >= 502 && status <= 504;
}

function waitMs({ retryAfter }: Failed['problem'], attempt: number): number {
  if (retryAfter !== undefined) return retryAfter * 1000;
  return FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random());
}

/** Each header costs a look-up, so that only those are read which the operation can have. */
function succeeded({ status, data, headers }: Answered, { keyed, query }: Route): Success<Data> {
  return {
    ok: true,
    status,
    data,
    etag: headers.get('etag') ?? undefined,
    replayed: keyed === true && headers.get('idempotency-replayed') === 'true',
    dryRun: query?.includes('dryRun') === true && headers.get('dry-run') === 'true',
    requestId: headers.get('x-request-id') ?? undefined,
  };
}

function audienceIgnored(status: number): Failed {
  const detail = 'The code that was issued is not for that service alone: it was discarded.';
  const problem: AudienceIgnored = { code: 'audience_ignored', status, detail };
  return { ok: false, problem };
}

import { ROUTES } from './api.gen.ts';
import { baseOf } from './base-url.ts';
import { Budget } from './budget.ts';
import { basicOf, type Credentials, noCredentials } from './credentials.ts';
import { type Answered, type Data, sendRequest, type Failed } from './send-request.ts';
import { requireKnown } from './known-members.ts';
import { LastMe } from './last-me.ts';
import { LogOuts } from './log-outs.ts';
import { Login } from './login.ts';
import type { Route } from './operation.ts';
import { type ClientOptions, optionNames, type Options } from './options.ts';
import { aborted, notLoggedIn } from './problems.ts';
import { inputNames, pathNames, requestOf } from './request.ts';
import { type AnyResult, audienceIgnored, type OperationId, succeeded } from './results.ts';
import {
  isFromAccounts,
  isOutage,
  isRefused,
  isRefusedInTime,
  LONGEST_WAIT_MS,
  isTemporary,
  waitMsAfter,
} from './retries.ts';
import type { RefreshWait } from './shared-refresh.ts';
import { inTime, pause } from './waiting.ts';

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
const STORED_WITHIN_MS = 1_000;
const BEARER = 'Bearer ';

type CallsOptions = ClientOptions & { credentials?: Credentials };

/** The operations of one client, with its login. */
export class Calls {
  readonly login: Login;
  private readonly lastMe: LastMe;
  private readonly logOuts: LogOuts;
  private readonly base: string;
  private readonly options: CallsOptions;

  constructor(options: CallsOptions) {
    this.options = options;
    this.base = baseOf(options.baseUrl);
    this.login = new Login(options.store, (refreshToken, budget) =>
      this.send(ROUTES.refresh, { refreshToken }, {}, budget),
    );
    this.lastMe = new LastMe(options.store.me, this.login);
    this.logOuts = new LogOuts(options.store.logOuts, this.login, (refreshToken) =>
      this.send(ROUTES.logOut, { refreshToken }, {}, this.waitOf({}).budget),
    );
  }

  async call(id: OperationId, input: Data, options: Options): Promise<AnyResult> {
    const route: Route = ROUTES[id];
    requireMembers(id, route, input, options);
    const wait = this.waitOf(options);
    const sent = route.opensSession ? { refresh: true, ...input } : input;
    const result = this.noted(await this.attempts(route, sent, options, wait));
    if (id === 'getMe') return this.me(result, input, options, wait);
    if (!result.ok) return result;
    if (route.opensSession) return this.begin(route, result, options);
    if (id === 'deleteAccount' && input['dryRun'] !== true) await this.login.forget('account_deleted');
    if (id === 'issueCode' && result.data['audience'] !== input['audience'])
      return audienceIgnored(result.status);
    return succeeded(result, route);
  }

  async refresh(options: Options): Promise<AnyResult> {
    requireMembers('refresh', ROUTES.refresh, {}, options);
    const result = this.noted(await this.login.refresh(this.waitOf(options)));
    return result.ok ? succeeded(result, ROUTES.refresh) : result;
  }

  async logOut(
    input: Data,
    options: Options,
  ): Promise<AnyResult & { sessionRevoked: boolean; queued: boolean }> {
    if (input['refreshToken'] !== undefined) {
      const result = await this.call('logOut', input, options);
      return { ...result, sessionRevoked: result.ok, queued: false };
    }
    const route: Route = ROUTES.logOut;
    requireMembers('logOut', route, input, options);
    const { refreshToken, accessToken, failure } = await this.login.forget('log_out', (token) =>
      this.logOuts.add(token),
    );
    if (refreshToken === undefined && accessToken === undefined) {
      return { ...(failure ?? { ok: false, problem: notLoggedIn }), sessionRevoked: false, queued: false };
    }
    const { budget } = this.waitOf(options);
    const result =
      refreshToken === undefined
        ? await this.send(route, {}, options, budget, BEARER + accessToken)
        : await this.send(route, { refreshToken }, options, budget);
    const isQueued = refreshToken !== undefined && (await this.logOuts.settle(refreshToken, result));
    this.noted(result);
    return {
      ...(failure ?? (result.ok ? succeeded(result, route) : result)),
      sessionRevoked: result.ok,
      queued: isQueued && !failure,
    };
  }

  /** Revokes the session of an access token that this client does not keep. */
  revoke(accessToken: string, options: Options): Promise<Answered | Failed> {
    return this.send(ROUTES.logOut, {}, {}, this.waitOf(options).budget, BEARER + accessToken);
  }

  /** If the store cannot save the tokens, revokes the session, which would otherwise live until it expires. */
  private async begin(route: Route, opened: Answered, options: Options): Promise<AnyResult> {
    const failure = await this.login.begin(opened.data);
    if (!failure) return succeeded(opened, route);
    await this.revoke(String(opened.data['token']), { timeoutMs: options.timeoutMs });
    return failure;
  }

  private async me(
    answer: Answered | Failed,
    input: Data,
    { orStale }: Options,
    { budget }: RefreshWait,
  ): Promise<AnyResult> {
    if (!answer.ok) {
      const isStale = orStale === true && isOutage(answer.problem);
      return isStale ? this.lastMe.orStale(answer, input) : answer;
    }
    const result = succeeded(answer, ROUTES.getMe);
    // Another process may hold the lock of the store for longer than a user waits.
    const waitMs = Math.min(STORED_WITHIN_MS, budget.leftMs);
    await inTime(this.lastMe.keep(answer.sessionId, input, result), waitMs, budget.signal);
    return result;
  }

  /** Accounts answers, so that queued logouts can be sent. */
  private noted(answer: Answered | Failed): Answered | Failed {
    if (answer.ok || (isFromAccounts(answer.problem) && !isOutage(answer.problem)))
      void this.logOuts.revokeAll();
    return answer;
  }

  private async attempts(
    route: Route,
    input: Data,
    options: Options,
    wait: RefreshWait,
  ): Promise<Answered | Failed> {
    const { budget } = wait;
    const retries = route.repeatable ? wait.retries : 0;
    const keyed = route.keyed ? { idempotencyKey: crypto.randomUUID(), ...defined(options) } : options;
    for (let attempt = 0; ; attempt += 1) {
      const spentMs = budget.spentMs;
      const authorization = await this.authorization(route, wait);
      // The refresh has already retried.
      if (typeof authorization === 'object') return authorization;
      const result = await this.authenticated(route, input, keyed, wait, authorization);
      if (result.ok || attempt >= retries || !isTemporary(result.problem)) return result;
      const waitMs = waitMsAfter(result.problem, attempt);
      if (waitMs > Math.min(LONGEST_WAIT_MS, budget.leftMs)) return result;
      if (isRefused(result.problem)) {
        const tookMs = budget.spentMs - spentMs;
        if (attempt > 0 || !isRefusedInTime(budget.spentMs, tookMs, waitMs)) return result;
      }
      if (!(await pause(waitMs, budget.signal))) return { ok: false, problem: aborted };
    }
  }

  private async authenticated(
    route: Route,
    input: Data,
    options: Options,
    wait: RefreshWait,
    authorization: string | undefined,
  ): Promise<Answered | Failed> {
    const result = await this.send(route, input, options, wait.budget, authorization);
    if (result.ok || result.problem.code !== 'invalid_token' || !authorization?.startsWith(BEARER))
      return result;
    const renewed = await this.login.token(wait, authorization.slice(BEARER.length));
    if (typeof renewed === 'object') return renewed;
    return this.send(route, input, options, wait.budget, BEARER + renewed);
  }

  private async authorization(route: Route, wait: RefreshWait): Promise<string | Failed | undefined> {
    if (route.auth === 'basic') {
      const { credentials } = this.options;
      if (credentials) return basicOf(credentials);
      return route.anonymous ? undefined : { ok: false, problem: noCredentials };
    }
    if (route.auth === undefined || route.anonymous) return undefined;
    const token = await this.login.token(wait);
    return typeof token === 'object' ? token : BEARER + token;
  }

  private async send(
    route: Route,
    input: Data,
    options: Options,
    budget: Budget,
    authorization?: string,
  ): Promise<Answered | Failed> {
    const request = requestOf(route, input);
    if ('problem' in request) return { ok: false, problem: request.problem };
    const { path, headers, body } = request;
    if (authorization !== undefined) headers['Authorization'] = authorization;
    if (options.idempotencyKey !== undefined) headers['Idempotency-Key'] = options.idempotencyKey;
    if (options.ifMatch !== undefined) headers['If-Match'] = options.ifMatch;
    const sessionId = authorization && this.login.sessionIdOf(authorization.slice(BEARER.length));
    const http = { url: this.base + path, headers, body };
    const answer = await sendRequest(this.options.fetch ?? fetch, route, http, budget);
    return answer.ok ? { ...answer, sessionId } : answer;
  }

  private waitOf({ timeoutMs, retries, signal }: Options): RefreshWait {
    const budget = new Budget(timeoutMs ?? this.options.timeoutMs ?? TIMEOUT_MS, signal);
    return { budget, retries: retries ?? this.options.retries ?? RETRIES };
  }
}

/** @throws TypeError for a member of the input or the options that the operation does not accept, and for a missing id */
function requireMembers(id: OperationId, route: Route, input: Data, options: Options): void {
  requireKnown(`${id} does`, input, inputNames(route));
  if (route.wrapped) requireKnown(`The body of ${id} does`, input['body'] ?? {}, route.fields ?? []);
  requireKnown(`The options of ${id} do`, options, optionNames(id, route));
  const missing = pathNames(route).find((name) => typeof input[name] !== 'string');
  if (missing !== undefined) throw new TypeError(`${id} needs the string ${JSON.stringify(missing)}`);
}

function defined(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

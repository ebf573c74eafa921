import type { Role } from '../api.gen.ts';
import { Budget } from '../budget.ts';
import { requireKnown } from '../known-members.ts';
import type { ProblemOf } from '../results.ts';
import { inTime } from '../waiting.ts';
import { isApiKey } from './api-key-form.ts';
import { ApiKeys, type KnownKey } from './api-keys.ts';
import { applyEvent, type FeedEvent } from './applied-events.ts';
import { type GuardClient, BoundedCalls } from './bounded-calls.ts';
import { type CallToken, CallTokens } from './call-tokens.ts';
import { Changes } from './changes.ts';
import { callsOf, type ServiceClient, serviceClientOf } from './client.ts';
import { bearerToken, decideOnCaller, decideOnLogin, decideOnMember } from './decision.ts';
import { Feed, type FeedProblem } from './feed.ts';
import { type GuardOptions, requireOptions } from './guard-options.ts';
import type {
  Admission,
  ExchangeAdmission,
  Guard,
  KeyAdmission,
  MemberAdmission,
  MemberKeyAdmission,
  ServiceAdmission,
} from './guard.ts';
import { admissionOf, extended, tokenOf } from './held-token.ts';
import { callHook } from '../hooks.ts';
import { KeySet } from './key-set.ts';
import { LatestRoles } from './latest-roles.ts';
import { Memberships } from './memberships.ts';
import { type ReadyOptions, requireReady } from './readiness.ts';
import { Reasons } from './reasons.ts';
import { RefusalLog } from './refusal-log.ts';
import {
  callerNotAllowed,
  invalidCode,
  invalidKey,
  invalidToken,
  type Refusal,
  unauthorized,
  unavailable,
} from './refusal.ts';
import {
  type AnyUser,
  EXCHANGE_OPTIONS,
  type ExchangeOptions,
  type FromServices,
  type InOrg,
  type OrKey,
  requireAudience,
  requireFrom,
  requirementOf,
  type Wait,
} from './requirement.ts';
import { Revisions } from './revisions.ts';
import { Sessions } from './sessions.ts';
import { type KnownToken, type LiveSession, TokenRejection, Tokens } from './tokens.ts';
import { Unavailable } from './unavailable.ts';

const CHANGES = 100_000;
const REVISIONS = 100_000;
const TIMEOUT_MS = 10_000;
const UNVERIFIED =
  'the exchanged token does not verify, compare the issuer, the audience and the clock with those of Accounts';
const ENDED = 'the session ended';
const NOT_ACTIVE = 'Accounts reports that the token is not active';
const KEY_NOT_ACTIVE = 'the API key is unknown, suspended, expired or revoked';
const BEARER = 'Bearer ';
const ANY_USER: AnyUser = {};
const WAIT: readonly string[] = ['signal'] satisfies (keyof Wait)[];

type Caller = Admission | KeyAdmission;
type MemberCaller = MemberAdmission | MemberKeyAdmission;

/**
 * Creates a guard, which starts to follow the event feed at once. `close` stops it.
 *
 * @throws TypeError for an option that is unknown, missing, empty or of a wrong type
 * @throws RangeError if `maxStaleness` or `timeoutMs` is too short
 */
export function createGuard(options: GuardOptions): Guard {
  requireOptions(options);
  const guard = new FeedGuard(options);
  return {
    authorize: (authorization: string | undefined | null, required?: OrKey<AnyUser | InOrg>) =>
      guard.authorize(authorization, required ?? ANY_USER) as Promise<MemberAdmission | Refusal>,
    exchange: (input, wait = {}) => guard.answer(() => guard.exchange(input, wait), wait),
    logOut: (authorization, wait = {}) => guard.answer(() => guard.logOut(authorization, wait), wait),
    authorizeService: (authorization, from) =>
      guard.answer(() => guard.authorizeService(authorization, from), from),
    tokenFor: (audience, admission, wait = {}) =>
      guard.answer(() => guard.tokenFor(audience, admission, wait), wait),
    ownTokenFor: (audience, wait = {}) => guard.answer(() => guard.ownTokenFor(audience, wait), wait),
    roleOf: (userId, orgId, wait = {}) => guard.answer(() => guard.roleOf(userId, orgId, wait), wait),
    ready: (wait = {}) => guard.ready(wait),
    isCurrent: () => guard.feed.isCurrent(),
    close: () => guard.close(),
  };
}

class FeedGuard {
  readonly feed: Feed;
  private readonly stop = new AbortController();
  private readonly client: ServiceClient;
  private readonly tokens: Tokens;
  private readonly sessions: Sessions;
  private readonly apiKeys: ApiKeys;
  private readonly callTokens: CallTokens;
  private readonly memberships: Memberships;
  private readonly latestRoles: LatestRoles;
  private readonly reasons: Reasons;
  private readonly log: RefusalLog;
  private readonly options: GuardOptions;
  private readonly timeoutMs: number;

  constructor(options: GuardOptions) {
    const { credentials, fetch, baseUrl = options.issuer, maxStaleness = 30, limits = {}, signal } = options;
    this.options = options;
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.reasons = new Reasons(credentials.name, baseUrl);
    this.log = new RefusalLog(options.log ?? console, this.reasons);
    const requests = callsOf({ baseUrl, credentials, fetch });
    this.client = serviceClientOf(requests);
    const changes = new Changes(CHANGES);
    const stopped = this.stop.signal;
    const revoke: GuardClient['revoke'] = (token, wait) => requests.revoke(token, wait);
    const calls = new BoundedCalls({ ...this.client, revoke }, stopped);
    const keys = new KeySet(this.client, stopped, () => this.tokens.forgetAll());
    this.tokens = new Tokens(keys, { ...options, service: credentials.name }, limits.tokens ?? 100_000);
    this.sessions = new Sessions(calls, changes, limits.sessions ?? 100_000);
    this.apiKeys = new ApiKeys(calls, changes, limits.tokens ?? 100_000);
    this.callTokens = new CallTokens(calls, changes, credentials.name);
    this.memberships = new Memberships(calls, changes, limits.memberships ?? 100_000);
    const revisions = new Revisions(REVISIONS);
    this.latestRoles = new LatestRoles(this.memberships, revisions);
    if (signal?.aborted) this.stop.abort();
    signal?.addEventListener('abort', () => this.stop.abort(), { signal: stopped });
    const run = (name: string, hook: () => unknown): void =>
      void callHook(hook, (error) => this.log.noteHook(name, error));
    const apply = (event: FeedEvent): void => {
      applyEvent(event, { changes, revisions, memberships: this.memberships });
      run('onEvent', () => options.onEvent?.(event));
    };
    const resync = (): void => {
      changes.noteAll();
      this.memberships.forgetAll();
      revisions.forgetAll();
      run('onReset', () => options.onReset?.());
    };
    const onAnswer = (): void => keys.refresh();
    const onProblem = (problem: FeedProblem): void => {
      this.log.noteProblem(problem);
      run('onFeedProblem', () => options.onFeedProblem?.(problem));
    };
    this.feed = new Feed(this.client, { apply, resync, onAnswer, onProblem }, stopped, maxStaleness);
  }

  /** Returns 503 if Accounts is unavailable, if the time is over, or if the caller no longer waits. */
  async answer<T>(work: () => Promise<T | Refusal>, { signal }: Wait): Promise<T | Refusal> {
    try {
      const answer = await inTime(work(), this.timeoutMs, signal);
      if (answer !== undefined) return answer;
      if (signal?.aborted) return unavailable('the caller gave up');
      throw new Unavailable(`Accounts did not respond within ${this.timeoutMs} ms`);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (!this.stop.signal.aborted) this.log.noteUnavailable(error.cause);
      return unavailable(error.cause);
    }
  }

  async authorize(
    authorization: string | undefined | null,
    options: OrKey<AnyUser | InOrg>,
  ): Promise<Caller | Refusal> {
    if (options === ANY_USER) {
      const admission = this.admitUnchanged(authorization);
      if (admission) return admission;
    }
    return this.answer(() => this.authorizeBy(authorization, options), options);
  }

  /** Decides most requests, without parsing, waiting or a request to Accounts. */
  private admitUnchanged(authorization: string | undefined | null, keys = false): Caller | undefined {
    if (!authorization?.startsWith(BEARER)) return undefined;
    const token = authorization.slice(BEARER.length);
    const key = keys ? this.apiKeys.findKnown(token) : undefined;
    if (key) return this.feed.isCurrent() ? admissionOf(token, key, key.session) : undefined;
    const known = this.tokens.find(token);
    if (known === undefined || known.service !== undefined || (known.key && !keys)) return undefined;
    const session = this.sessions.findUnchanged(known);
    return session && this.feed.isCurrent() ? admissionOf(token, known, session) : undefined;
  }

  private async authorizeBy(
    authorization: string | undefined | null,
    options: OrKey<AnyUser | InOrg>,
  ): Promise<Caller | Refusal> {
    const required = requirementOf(options);
    const { keys } = options;
    const caller = this.admitUnchanged(authorization, keys) ?? (await this.admitBy(authorization, keys));
    const admission = caller.ok ? decideOnCaller(caller, options) : caller;
    if (!admission.ok) return admission;
    const admitted = required === undefined ? admission : await this.admitMember(admission, required);
    return decideOnLogin(admitted, options);
  }

  async exchange(
    input: { code: string; codeVerifier: string },
    given: ExchangeOptions,
  ): Promise<ExchangeAdmission | Refusal> {
    requireKnown('The options of exchange do', given, EXCHANGE_OPTIONS);
    const { signal, idempotencyKey } = given;
    const budget = new Budget(this.timeoutMs, signal);
    // If the guard cannot admit the user now, the code stays valid.
    await this.untilCurrent();
    const options = { signal, timeoutMs: budget.leftMs, idempotencyKey };
    const answer = await this.client.exchangeCode(input, options);
    if (!answer.ok) {
      if (isAboutTheCode(answer.problem)) return invalidCode();
      throw new Unavailable(answer.problem);
    }
    const { token } = answer.data;
    const verified = await this.tokens.verify(token);
    if (verified instanceof TokenRejection) {
      throw new Unavailable(new Error(`${UNVERIFIED}: ${verified.message}`, { cause: verified }));
    }
    const admission = await this.admit(token);
    if (!admission.ok) return admission;
    return admission.key ? callerNotAllowed() : extended(admission, { token });
  }

  async logOut(authorization: string | undefined | null, wait: Wait): Promise<{ ok: true } | Refusal> {
    requireKnown('The options of logOut do', wait, WAIT);
    const token = bearerToken(authorization);
    if (token === undefined) return unauthorized();
    if (isApiKey(token)) return callerNotAllowed();
    const known = this.tokens.find(token) ?? (await this.tokens.verify(token));
    if (known instanceof TokenRejection) return this.reject(known);
    if (known.key) return callerNotAllowed();
    if (this.sessions.isRefused(known)) return invalidToken(NOT_ACTIVE);
    if (this.sessions.hasEnded(known)) return invalidToken(ENDED);
    // A service that is called ends nothing.
    if (known.service !== undefined || known.via.length > 0) return callerNotAllowed();
    return (await this.sessions.revoke(token, known)) ? { ok: true } : invalidToken(NOT_ACTIVE);
  }

  async authorizeService(
    authorization: string | undefined | null,
    options: FromServices,
  ): Promise<ServiceAdmission | Refusal> {
    requireFrom(options);
    const token = bearerToken(authorization);
    const live = token === undefined ? unauthorized() : await this.findLive(token);
    if ('problem' in live) return live;
    const { known } = live;
    if (known.service === undefined || !options.from.includes(known.service)) return callerNotAllowed();
    return { ok: true, service: { name: known.service }, claims: known.claims };
  }

  async tokenFor(
    audience: string,
    admission: Admission | KeyAdmission,
    wait: Wait,
  ): Promise<CallToken | Refusal> {
    requireKnown('The options of tokenFor do', wait, WAIT);
    requireAudience(audience);
    const token = tokenOf(admission);
    const known = isApiKey(token) ? await this.findKey(token) : await this.findKnown(token, true);
    if ('problem' in known) return known;
    if (known.service !== undefined) return callerNotAllowed();
    return (await this.callTokens.forUser(audience, token, known)) ?? invalidToken(NOT_ACTIVE);
  }

  async ownTokenFor(audience: string, wait: Wait): Promise<CallToken | Refusal> {
    requireKnown('The options of ownTokenFor do', wait, WAIT);
    requireAudience(audience);
    await this.untilCurrent();
    return this.callTokens.forService(audience);
  }

  async roleOf(
    userId: string,
    orgId: string,
    wait: Wait,
  ): Promise<{ ok: true; role: Role | undefined } | Refusal> {
    requireKnown('The options of roleOf do', wait, WAIT);
    await this.untilCurrent();
    return { ok: true, role: await this.memberships.roleIn(orgId, userId) };
  }

  ready(options: ReadyOptions): Promise<void> {
    const { issuer, audience, credentials } = this.options;
    const signal = AbortSignal.any([this.stop.signal, ...(options.signal ? [options.signal] : [])]);
    const checked = {
      issuer,
      audience,
      service: credentials.name,
      isCurrent: (): boolean => this.feed.isCurrent(),
    };
    return requireReady(this.client, checked, this.reasons, { ...options, signal });
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.feed.ended();
  }

  private async admitBy(
    authorization: string | undefined | null,
    keys: boolean | undefined,
  ): Promise<Caller | Refusal> {
    const token = bearerToken(authorization);
    return token === undefined ? unauthorized() : this.admit(token, keys);
  }

  private async admit(token: string, keys = false): Promise<Caller | Refusal> {
    const live = await this.findLive(token, keys);
    if ('problem' in live) return live;
    const { known, session } = live;
    return known.service === undefined ? admissionOf(token, known, session) : callerNotAllowed();
  }

  private async findLive(
    token: string,
    keys = false,
  ): Promise<{ known: KnownToken | KnownKey; session: LiveSession } | Refusal> {
    if (isApiKey(token)) {
      const key = keys ? await this.findKey(token) : callerNotAllowed();
      return 'problem' in key ? key : { known: key, session: key.session };
    }
    const known = await this.findKnown(token, keys);
    if ('problem' in known) return known;
    const session = this.sessions.find(known) ?? (await this.sessions.read(token, known));
    return session === undefined ? invalidToken(NOT_ACTIVE) : { known, session };
  }

  private async findKey(key: string): Promise<KnownKey | Refusal> {
    if (!this.feed.isCurrent()) await this.untilCurrent();
    return (await this.apiKeys.find(key)) ?? invalidKey(KEY_NOT_ACTIVE);
  }

  /** Verifies the token, and compares it with what the feed has reported. */
  private async findKnown(token: string, keys: boolean): Promise<KnownToken | Refusal> {
    const known = this.tokens.find(token) ?? (await this.tokens.verify(token));
    if (known instanceof TokenRejection) return this.reject(known);
    if (known.key && !keys) return callerNotAllowed();
    if (this.sessions.isRefused(known)) return invalidToken(NOT_ACTIVE);
    if (!this.feed.isCurrent()) await this.untilCurrent();
    return this.sessions.hasEnded(known) ? invalidToken(ENDED) : known;
  }

  private async admitMember(
    admission: Caller,
    { orgId, role: least, atLeast }: OrKey<InOrg>,
  ): Promise<MemberCaller | Refusal> {
    const { user, key } = admission;
    const { id } = key ?? admission.session;
    const role =
      atLeast === undefined
        ? await this.memberships.roleIn(orgId, user.id)
        : await this.latestRoles.roleIn(orgId, user.id, atLeast, id);
    return decideOnMember(admission, role, least);
  }

  private reject(rejection: TokenRejection): Refusal {
    this.log.noteRejection(rejection);
    return invalidToken(rejection);
  }

  private async untilCurrent(): Promise<void> {
    await this.feed.started;
    if (!this.feed.isCurrent()) throw new Unavailable(this.feed.problem ?? 'the feed is silent');
  }
}

/** A key in a wrong form is a mistake of the service, and leaves the code valid. */
function isAboutTheCode(problem: ProblemOf<'exchangeCode'>): boolean {
  if (problem.code === 'validation_failed')
    return problem.errors.every(({ field }) => field !== 'Idempotency-Key');
  return problem.code === 'invalid_code';
}

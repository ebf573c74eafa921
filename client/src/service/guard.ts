import type { AuthenticationMethod, Role } from '../api.gen.ts';
import { requireKnown } from '../known-members.ts';
import { unlessAborted } from '../waiting.ts';
import { applyEvent, type FeedEvent } from './applied-events.ts';
import { Calls } from './calls.ts';
import { createServiceClient, type ServiceClient } from './client.ts';
import { Changes } from './changes.ts';
import { Feed, type FeedProblem } from './feed.ts';
import { KeySet } from './key-set.ts';
import { Memberships } from './memberships.ts';
import {
  insufficientRole,
  invalidCode,
  invalidToken,
  notAMember,
  type Refusal,
  unauthorized,
  unavailable,
} from './refusal.ts';
import { RefusalLog } from './refusal-log.ts';
import { type InOrg, isAtLeast, requirementOf, type Wait } from './requirement.ts';
import { type LiveSession, Sessions } from './sessions.ts';
import { type TokenClaims, TokenRejection, Tokens } from './tokens.ts';
import { Unavailable } from './unavailable.ts';
import { requireOptions, type GuardOptions } from './guard-options.ts';

const CHANGES = 100_000;
const UNVERIFIED =
  'the token of an exchange does not verify, compare issuer, audience and the clock with those of Accounts';
const NOT_ACTIVE = 'Accounts says that the token is not active';
const WAIT = ['signal'] satisfies (keyof Wait)[];

export interface Admission {
  ok: true;
  user: { id: string; email: string; emailVerified: boolean };
  session: { id: string; amr: readonly AuthenticationMethod[]; authTime: number };
  claims: TokenClaims;
}
export type MemberAdmission = Admission & { role: Role };
export type ExchangeAdmission = Admission & { token: string };

export interface Guard {
  /**
   * @param authorization the header of a request
   * @throws TypeError for an unknown option or role, and for a role without `orgId`
   */
  authorize(authorization: string | undefined | null, options: InOrg): Promise<MemberAdmission | Refusal>;
  authorize(authorization: string | undefined | null, options?: Wait): Promise<Admission | Refusal>;
  /** Exchanges a code that was issued for this service, with the verifier that this service made. */
  exchange(
    input: { code: string; codeVerifier: string },
    options?: Wait,
  ): Promise<ExchangeAdmission | Refusal>;
  /** Role of any user; undefined where they are no member. */
  roleOf(
    userId: string,
    orgId: string,
    options?: Wait,
  ): Promise<{ ok: true; role: Role | undefined } | Refusal>;
  /** For the readiness of the service: whether it can tell now. */
  isCurrent(): boolean;
  close(): Promise<void>;
}

/**
 * Begins at once to follow the feed; `close` ends that.
 *
 * @throws TypeError for an option that is unknown, missing or empty
 * @throws RangeError where `maxStaleness` is too short
 */
export function createGuard(options: GuardOptions): Guard {
  requireOptions(options);
  const guard = new FeedGuard(options);
  return {
    authorize: (authorization: string | undefined | null, given?: Wait | InOrg) => {
      const wait = given ?? {};
      return guard.answer(() => guard.authorize(authorization, wait), wait) as Promise<
        MemberAdmission | Refusal
      >;
    },
    exchange: (input, wait = {}) => guard.answer(() => guard.exchange(input, wait), wait),
    roleOf: (userId, orgId, wait = {}) => guard.answer(() => guard.roleOf(userId, orgId, wait), wait),
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
  private readonly memberships: Memberships;
  private readonly log: RefusalLog;

  constructor({ maxStaleness = 30, limits = {}, signal, ...options }: GuardOptions) {
    const { credentials, fetch, baseUrl = options.issuer } = options;
    this.log = new RefusalLog(options.log ?? console, credentials.name, baseUrl);
    this.client = createServiceClient({ baseUrl, credentials, fetch });
    const changes = new Changes(CHANGES);
    const stopped = this.stop.signal;
    const calls = new Calls(this.client, stopped);
    const keys = new KeySet(this.client, stopped, () => this.tokens.forgetAll());
    this.tokens = new Tokens(keys, options, limits.tokens ?? 20_000);
    this.sessions = new Sessions(calls, changes, limits.sessions ?? 100_000);
    this.memberships = new Memberships(calls, changes, limits.memberships ?? 100_000);
    if (signal?.aborted) this.stop.abort();
    signal?.addEventListener('abort', () => this.stop.abort(), { signal: stopped });
    const apply = (event: FeedEvent): void => {
      applyEvent(event, changes, this.memberships);
      tell(options.onEvent, event);
    };
    const resync = (): void => {
      changes.noteAll();
      this.memberships.forgetAll();
    };
    const heard = (): void => keys.refresh();
    const onProblem = (problem: FeedProblem): void => {
      tell((told) => this.log.noteProblem(told), problem);
      tell(options.onFeedProblem, problem);
    };
    this.feed = new Feed(this.client, { apply, resync, heard, onProblem }, stopped, maxStaleness);
  }

  /** Says *unavailable* where that is why nothing can be told, or the caller no longer waits. */
  async answer<T>(work: () => Promise<T | Refusal>, { signal }: Wait): Promise<T | Refusal> {
    try {
      return (await unlessAborted(work(), signal)) ?? unavailable('the caller gave up');
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (!this.stop.signal.aborted) tell((cause) => this.log.noteUnavailable(cause), error.cause);
      return unavailable(error.cause);
    }
  }

  async authorize(
    authorization: string | undefined | null,
    wait: Wait | InOrg,
  ): Promise<Admission | MemberAdmission | Refusal> {
    const required = requirementOf(wait);
    const token = bearerToken(authorization);
    if (token === undefined) return unauthorized();
    const admission = await this.admit(token);
    if (!admission.ok || required === undefined) return admission;
    const role = await this.memberships.roleIn(required.orgId, admission.user.id);
    if (role === undefined) return notAMember();
    if (required.role !== undefined && !isAtLeast(role, required.role))
      return insufficientRole(required.role);
    return { ...admission, role };
  }

  async exchange(
    input: { code: string; codeVerifier: string },
    wait: Wait,
  ): Promise<ExchangeAdmission | Refusal> {
    requireKnown('The options of exchange do', wait, WAIT);
    // A user who cannot be admitted keeps the code.
    await this.untilCurrent();
    const answer = await this.client.exchangeCode(input, { signal: wait.signal });
    if (!answer.ok) {
      const isWrong = answer.problem.code === 'invalid_code' || answer.problem.code === 'validation_failed';
      if (isWrong) return invalidCode();
      throw new Unavailable(answer.problem);
    }
    const { token } = answer.data;
    const verified = await this.tokens.verify(token);
    if (verified instanceof TokenRejection) {
      throw new Unavailable(new Error(`${UNVERIFIED}: ${verified.message}`, { cause: verified }));
    }
    const admission = await this.admit(token);
    return admission.ok ? { ...admission, token } : admission;
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

  async close(): Promise<void> {
    this.stop.abort();
    await this.feed.ended();
  }

  private async admit(token: string): Promise<Admission | Refusal> {
    const known = this.tokens.find(token) ?? (await this.tokens.verify(token));
    if (known instanceof TokenRejection) {
      tell((rejection) => this.log.noteRejection(rejection), known);
      return invalidToken(known);
    }
    if (this.sessions.isRefused(known)) return invalidToken(NOT_ACTIVE);
    if (!this.feed.isCurrent()) await this.untilCurrent();
    const { claims } = known;
    if (this.sessions.hasEnded(claims)) return invalidToken('the feed has told that the session ended');
    const session = this.sessions.find(claims) ?? (await this.sessions.ask(token, known));
    return session === undefined ? invalidToken(NOT_ACTIVE) : admissionOf(claims, session);
  }

  private async untilCurrent(): Promise<void> {
    await this.feed.started;
    if (!this.feed.isCurrent()) throw new Unavailable(this.feed.problem ?? 'the feed is silent');
  }
}

function admissionOf(claims: TokenClaims, { email, emailVerified, amr, authTime }: LiveSession): Admission {
  return {
    ok: true,
    user: { id: claims.sub, email, emailVerified },
    session: { id: claims.sid, amr, authTime },
    claims,
  };
}

function bearerToken(authorization: string | undefined | null): string | undefined {
  return /^Bearer +([^\s,]+) *$/i.exec(authorization ?? '')?.[1];
}

/** A listener that throws must not end the feed: the error is that of the program. */
function tell<T>(listener: ((told: T) => void) | undefined, told: T): void {
  try {
    listener?.(told);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

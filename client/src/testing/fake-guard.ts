import type { AuthenticationMethod, Role } from '../api.gen.ts';
import { requireKnown } from '../known-members.ts';
import { apiKeyOf, isApiKey } from '../service/api-key-form.ts';
import type { FeedEvent } from '../service/applied-events.ts';
import type { GuardOptions } from '../service/guard-options.ts';
import type { CallToken } from '../service/call-tokens.ts';
import type { Admission, Guard, KeyAdmission } from '../service/guard.ts';
import { bearerToken, decideOnCaller, decideOnLogin, decideOnMember } from '../service/decision.ts';
import { extended, holding, tokenOf } from '../service/held-token.ts';
import {
  callerNotAllowed,
  invalidCode,
  invalidToken,
  type Refusal,
  unauthorized,
  unavailable,
} from '../service/refusal.ts';
import {
  type AnyUser,
  EXCHANGE_OPTIONS,
  type ExchangeOptions,
  type InOrg,
  type OrKey,
  requireAudience,
  requireFrom,
  requirementOf,
} from '../service/requirement.ts';

const LIFE_SECONDS = 3_600;
const CALL_MS = 300_000;

export interface FakeUser {
  id?: string | undefined;
  email?: string | undefined;
  emailVerified?: boolean | undefined;
  /** How the user logged in: `['pwd']` by default, `['fed']` at a provider. */
  amr?: readonly AuthenticationMethod[] | undefined;
  /** When the user logged in, in epoch seconds: now by default. */
  authTime?: number | undefined;
  /** The services that call for the user, the latest last: none by default. */
  via?: readonly string[] | undefined;
}

export interface FakeCaller {
  token: string;
  /** The header of a request: `Bearer` and the token. */
  authorization: string;
}

export interface FakeLogin extends FakeCaller {
  userId: string;
  sessionId: string;
}

export interface FakeKey {
  /** The user as whom the key acts: another one for each key by default. */
  user?: Omit<FakeUser, 'amr' | 'authTime'> | undefined;
  /** The most that the key may have: `member` by default. */
  role?: Role | undefined;
  /** The only organization in which the key acts: each one of its user by default. */
  orgId?: string | undefined;
}

export interface MadeKey extends FakeCaller {
  userId: string;
  keyId: string;
}

/** The hooks of your service. */
export type FakeOptions = Pick<GuardOptions, 'onEvent' | 'onReset'>;
const OPTIONS: readonly string[] = ['onEvent', 'onReset'] satisfies (keyof FakeOptions)[];

/** An event of which only the type must be given. */
export type FakeEvent = FeedEvent extends infer Event
  ? Event extends FeedEvent
    ? Partial<Event> & Pick<Event, 'type'>
    : never
  : never;

/** A guard without Accounts. It rejects requests and checks options as the real guard does. */
export interface FakeGuard extends Guard {
  /** Returns an access token that the guard admits. */
  logIn(user?: FakeUser): FakeLogin;
  /** Returns an API key, or with `user.via` a token by one, that the guard admits where `keys` is true. It has the roles of its user. */
  makeKey(key?: FakeKey): MadeKey;
  /** Returns an access token with which this service calls for itself. */
  callAs(name: string): FakeCaller;
  /**
   * Calls `onEvent` with the event. Missing members are null, and missing `data` is empty. An event does not change what the
   * guard decides: use `logOut` and `setRole`.
   *
   * @returns when `onEvent` is done; it rejects with the error of `onEvent`, which the real guard logs
   */
  emit(event: FakeEvent): Promise<void>;
  /** Calls `onReset`, as the real guard does at the start and after a gap. */
  reset(): Promise<void>;
  /** Makes the user a member of the organization, or removes the user if the role is missing. */
  setRole(userId: string, orgId: string, role?: Role): void;
  /** Returns a one-time code for `exchange`. */
  issueCode(user?: FakeUser): string;
  /** With false, the guard returns 503, as if Accounts could not be reached. */
  setAvailable(isAvailable: boolean): void;
}

/**
 * Creates a guard for tests in one process, without a network and without waits.
 *
 * @throws TypeError for an unknown option
 */
export function fakeGuard(hooks: FakeOptions = {}): FakeGuard {
  requireKnown('fakeGuard does', hooks, OPTIONS);
  const admissions = new Map<string, Admission | KeyAdmission>();
  const callers = new Map<string, string>();
  const roles = new Map<string, Role>();
  const codes = new Map<string, FakeUser>();
  /** Access tokens by code and idempotency key. */
  const exchanged = new Map<string, string>();
  let isAvailable = true;

  const logIn = (user: FakeUser = {}): FakeLogin => {
    const token = newToken();
    const admission = holding(token, admissionOf(user));
    admissions.set(token, admission);
    const {
      user: { id: userId },
      session,
    } = admission;
    return { userId, token, authorization: `Bearer ${token}`, sessionId: session.id };
  };

  const makeKey = ({ user = {}, role = 'member', orgId: only }: FakeKey = {}): MadeKey => {
    const orgId = only ?? null;
    const token = user.via?.length
      ? newToken()
      : apiKeyOf(
          newToken()
            .replaceAll(/[^0-9a-z]/g, '')
            .padEnd(43, '0'),
        );
    const {
      ok,
      user: { id },
      user: of,
      via,
    } = admissionOf(user);
    const keyId = crypto.randomUUID();
    const claims = claimsOf(id, { key: { id: keyId, role, org: orgId } });
    admissions.set(token, holding(token, { ok, user: of, key: { id: keyId, role, orgId }, claims, via }));
    return { userId: id, keyId, token, authorization: `Bearer ${token}` };
  };

  const authorize = async (
    authorization: string | undefined | null,
    options: OrKey<AnyUser | InOrg> = {},
  ): Promise<Admission | KeyAdmission | Refusal> => {
    const required = requirementOf(options);
    const token = bearerToken(authorization);
    if (token === undefined) return unauthorized();
    if (isKey(token) && options.keys !== true) return callerNotAllowed();
    if (!isAvailable) return unavailable('the fake guard is not available');
    const caller = admissions.get(token);
    if (!caller) return callers.has(token) ? callerNotAllowed() : invalidToken(UNKNOWN);
    const admission = decideOnCaller(caller, options);
    if (!admission.ok) return admission;
    const admitted = required === undefined ? admission : memberOf(admission, required);
    return decideOnLogin(admitted, options);
  };

  const isKey = (token: string): boolean => isApiKey(token) || admissions.get(token)?.key !== undefined;

  const memberOf = (admission: Admission | KeyAdmission, { orgId, role: least }: OrKey<InOrg>) =>
    decideOnMember(admission, roles.get(pairOf(admission.user.id, orgId)), least);

  return {
    authorize: authorize as Guard['authorize'],
    exchange: async ({ code }, options: ExchangeOptions = {}) => {
      requireKnown('The options of exchange do', options, EXCHANGE_OPTIONS);
      if (!isAvailable) return unavailable('the fake guard is not available');
      const request = `${code} ${options.idempotencyKey}`;
      let token = exchanged.get(request);
      const user = codes.get(code);
      if (token === undefined && user && codes.delete(code)) {
        ({ token } = logIn(user));
        if (options.idempotencyKey !== undefined) exchanged.set(request, token);
      }
      const admission = admissions.get(token ?? '');
      return token !== undefined && admission && !admission.key
        ? extended(admission, { token })
        : invalidCode();
    },
    authorizeService: async (authorization, options) => {
      requireFrom(options);
      const token = bearerToken(authorization);
      if (token === undefined) return unauthorized();
      if (isKey(token)) return callerNotAllowed();
      if (!isAvailable) return unavailable('the fake guard is not available');
      const name = callers.get(token);
      if (name === undefined && !admissions.has(token)) return invalidToken(UNKNOWN);
      if (name === undefined || !options.from.includes(name)) return callerNotAllowed();
      return { ok: true, service: { name }, claims: claimsOf(`service:${name}`, { via_epoch: 0 }) };
    },
    tokenFor: async (audience, admission) => {
      requireAudience(audience);
      const isLive = admissions.has(tokenOf(admission));
      if (!isAvailable) return unavailable('the fake guard is not available');
      return isLive ? callToken() : invalidToken(UNKNOWN);
    },
    ownTokenFor: async (audience) => {
      requireAudience(audience);
      return isAvailable ? callToken() : unavailable('the fake guard is not available');
    },
    roleOf: async (userId, orgId) =>
      isAvailable
        ? { ok: true, role: roles.get(pairOf(userId, orgId)) }
        : unavailable('the fake guard is not available'),
    ready: () => Promise.resolve(),
    isCurrent: () => isAvailable,
    close: () => Promise.resolve(),
    logIn,
    makeKey,
    callAs: (name) => {
      const token = newToken();
      callers.set(token, name);
      return { token, authorization: `Bearer ${token}` };
    },
    logOut: async (authorization) => {
      const token = bearerToken(authorization);
      if (token === undefined) return unauthorized();
      if (isKey(token)) return callerNotAllowed();
      if (!isAvailable) return unavailable('the fake guard is not available');
      const isOwn = admissions.get(token)?.via.length === 0;
      if (!isOwn && (admissions.has(token) || callers.has(token))) return callerNotAllowed();
      return admissions.delete(token) ? { ok: true } : invalidToken(UNKNOWN);
    },
    emit: async (event) => void (await hooks.onEvent?.({ ...NO_EVENT, ...event } as FeedEvent)),
    reset: async () => void (await hooks.onReset?.()),
    setRole: (userId, orgId, role) => {
      if (role === undefined) roles.delete(pairOf(userId, orgId));
      else roles.set(pairOf(userId, orgId), role);
    },
    issueCode: (user = {}) => {
      const code = `fake.${crypto.randomUUID()}`;
      codes.set(code, user);
      return code;
    },
    setAvailable: (available) => {
      isAvailable = available;
    },
  };
}

const NO_EVENT = {
  id: '00000000-0000-7000-8000-000000000000',
  at: '1970-01-01T00:00:00.000Z',
  orgId: null,
  orgRevision: null,
  userId: null,
  userRevision: null,
  sessionId: null,
  data: {},
  actor: { type: 'system', id: null },
};

const UNKNOWN = 'the fake guard has not made the token';
const newToken = (): string => `fake.${crypto.randomUUID()}`;

function callToken(): CallToken {
  return { ok: true, token: newToken(), expiresAt: new Date(Date.now() + CALL_MS).toISOString() };
}

const pairOf = (userId: string, orgId: string): string => `${userId} ${orgId}`;

function admissionOf(user: FakeUser): Admission {
  const now = Math.floor(Date.now() / 1000);
  const { id = crypto.randomUUID(), emailVerified = true, amr = ['pwd'], authTime = now, via = [] } = user;
  const email = user.email ?? `${id}@example.com`;
  const sid = crypto.randomUUID();
  const claims = claimsOf(id, { sid });
  return { ok: true, user: { id, email, emailVerified }, session: { id: sid, amr, authTime }, claims, via };
}

function claimsOf<More extends object>(sub: string, more: More) {
  const now = Math.floor(Date.now() / 1000);
  return { iss: 'fake', aud: 'fake', sub, iat: now, exp: now + LIFE_SECONDS, ...more };
}

import type { AuthenticationMethod, Role } from '../api.gen.ts';
import { requireKnown } from '../known-members.ts';
import type { FeedEvent } from '../service/applied-events.ts';
import type { GuardOptions } from '../service/guard-options.ts';
import type { Admission, Guard, MemberAdmission } from '../service/guard.ts';
import { bearerToken, decideOnLogin, decideOnMember } from '../service/decision.ts';
import { invalidCode, invalidToken, type Refusal, unauthorized, unavailable } from '../service/refusal.ts';
import {
  type AnyUser,
  EXCHANGE_OPTIONS,
  type ExchangeOptions,
  type InOrg,
  requirementOf,
} from '../service/requirement.ts';

const LIFE_SECONDS = 3_600;

export interface FakeUser {
  id?: string | undefined;
  email?: string | undefined;
  emailVerified?: boolean | undefined;
  /** How the user logged in: `['pwd']` by default. */
  amr?: readonly AuthenticationMethod[] | undefined;
  /** When the user logged in, in epoch seconds: now by default. */
  authTime?: number | undefined;
}

export interface FakeLogin {
  userId: string;
  token: string;
  /** The header of a request: `Bearer` and the token. */
  authorization: string;
  sessionId: string;
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

/** A guard without Accounts. It refuses requests and checks options as the real guard does. */
export interface FakeGuard extends Guard {
  /** Returns an access token that the guard admits. */
  logIn(user?: FakeUser): FakeLogin;
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
  const admissions = new Map<string, Admission>();
  const roles = new Map<string, Role>();
  const codes = new Map<string, FakeUser>();
  /** Access tokens by code and idempotency key. */
  const exchanged = new Map<string, string>();
  let isAvailable = true;

  const logIn = (user: FakeUser = {}): FakeLogin => {
    const admission = admissionOf(user);
    const token = `fake.${crypto.randomUUID()}`;
    admissions.set(token, admission);
    const {
      user: { id: userId },
      session,
    } = admission;
    return { userId, token, authorization: `Bearer ${token}`, sessionId: session.id };
  };

  const authorize = async (
    authorization: string | undefined | null,
    options: AnyUser | InOrg = {},
  ): Promise<Admission | MemberAdmission | Refusal> => {
    const required = requirementOf(options);
    const token = bearerToken(authorization);
    if (token === undefined) return unauthorized();
    if (!isAvailable) return unavailable('the fake guard is not available');
    const admission = admissions.get(token);
    if (!admission) return invalidToken('the fake guard has not made the token');
    const admitted = required === undefined ? admission : memberOf(admission, required);
    return decideOnLogin(admitted, options);
  };

  const memberOf = (admission: Admission, { orgId, role: least }: InOrg): MemberAdmission | Refusal =>
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
      return token !== undefined && admission ? { ...admission, token } : invalidCode();
    },
    roleOf: async (userId, orgId) =>
      isAvailable
        ? { ok: true, role: roles.get(pairOf(userId, orgId)) }
        : unavailable('the fake guard is not available'),
    ready: () => Promise.resolve(),
    isCurrent: () => isAvailable,
    close: () => Promise.resolve(),
    logIn,
    logOut: async (authorization) => {
      const token = bearerToken(authorization);
      if (token === undefined) return unauthorized();
      if (!isAvailable) return unavailable('the fake guard is not available');
      return admissions.delete(token) ? { ok: true } : invalidToken('the fake guard has not made the token');
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

const pairOf = (userId: string, orgId: string): string => `${userId} ${orgId}`;

function admissionOf(user: FakeUser): Admission {
  const now = Math.floor(Date.now() / 1000);
  const { id = crypto.randomUUID(), emailVerified = true, amr = ['pwd'], authTime = now } = user;
  const email = user.email ?? `${id}@example.com`;
  const sid = crypto.randomUUID();
  const claims = { iss: 'fake', aud: 'fake', sub: id, sid, iat: now, exp: now + LIFE_SECONDS };
  return { ok: true, user: { id, email, emailVerified }, session: { id: sid, amr, authTime }, claims };
}

import type { AuthenticationMethod, Role } from '../api.gen.ts';
import { requireKnown } from '../known-members.ts';
import { BY_RANK, SERVICE_NAME } from './claims.ts';

export interface Wait {
  /** Ends this wait. The guard then returns 503 `unavailable`. */
  signal?: AbortSignal | undefined;
}

export interface ExchangeOptions extends Wait {
  /**
   * Repeats an exchange whose response was lost, over several calls: 16 to 255 random ASCII characters, new for each code. Keep
   * it secret. By default each call has a key of its own.
   */
  idempotencyKey?: string | undefined;
}

export const EXCHANGE_OPTIONS: readonly string[] = [
  'signal',
  'idempotencyKey',
] satisfies (keyof ExchangeOptions)[];

/** A recent or stronger login that a route requires (step-up authentication, RFC 9470). */
export interface StepUp {
  /** Maximum age of the login in seconds. 0 admits no user. */
  maxAge?: number | undefined;
  /** Methods that the login must have used: `['otp']` requires two-factor authentication. */
  amr?: readonly AuthenticationMethod[] | undefined;
}

/** The requirements of a route for any user. */
export interface UserRequirement extends StepUp {
  /**
   * The services that may call for a user, by the latest of the way; by default any. A user who came directly is always admitted,
   * and with `[]` no other user is.
   */
  via?: readonly string[] | undefined;
  /** Also admits API keys. By default no key is admitted. */
  keys?: boolean | undefined;
}

/** The services that `authorizeService` admits. */
export interface FromServices extends Wait {
  from: readonly string[];
}

/** The requirements of `authorize` for any user. */
export interface AnyUser extends UserRequirement, Wait {
  keys?: false | undefined;
}

/** Requirements that also admit API keys. */
export type OrKey<Required extends AnyUser> = Required extends AnyUser
  ? Omit<Required, 'keys'> & Pick<UserRequirement, 'keys'>
  : never;

/** The requirements of `authorize` for a member. */
export interface InOrg extends AnyUser {
  /** Id of the organization in which the user must be a member. */
  orgId: string;
  /** The lowest role that is admitted; by default any member. */
  role?: Role | undefined;
  /**
   * A revision of the organization that the client has seen, such as the revision of its own change. The guard decides on this
   * state or a later one. If the revision does not exist, the guard decides on the current state.
   */
  atLeast?: number | undefined;
}

const METHODS: readonly AuthenticationMethod[] = ['pwd', 'fed', 'otp'];
const OF_ANY_USER: readonly string[] = ['signal', 'maxAge', 'amr', 'via', 'keys'] satisfies (keyof AnyUser)[];
const OF_MEMBERS: readonly string[] = [...OF_ANY_USER, 'orgId', 'role', 'atLeast'];

/**
 * Returns the requirements for a member, or undefined if any user is admitted. A misspelled option would admit every user.
 *
 * @throws TypeError for invalid options
 */
export function requirementOf(options: OrKey<AnyUser | InOrg>): OrKey<InOrg> | undefined {
  requireKnown('authorize does', options, OF_MEMBERS);
  requireOfUsers(options);
  if (!('orgId' in options)) {
    if ('role' in options) throw new TypeError('role needs orgId');
    if ('atLeast' in options) throw new TypeError('atLeast needs orgId');
    return undefined;
  }
  const { orgId, role, atLeast } = options;
  if (typeof orgId !== 'string') throw new TypeError('orgId must be a string');
  requireRole(role);
  if (atLeast !== undefined && !(Number.isSafeInteger(atLeast) && atLeast >= 0))
    throw new TypeError('atLeast must be a revision: an integer from 0');
  return options;
}

/** @throws TypeError for a role that does not exist */
export function requireRole(role: Role | undefined): void {
  if (role !== undefined && !BY_RANK.includes(role))
    throw new TypeError(`role must be one of ${BY_RANK.join(', ')}`);
}

/** @throws TypeError for an invalid age, way or `keys`, and for invalid methods */
export function requireOfUsers({ maxAge, amr, via, keys }: UserRequirement): void {
  if (maxAge !== undefined && !(typeof maxAge === 'number' && maxAge >= 0))
    throw new TypeError('maxAge must be a number of seconds');
  if (amr !== undefined && !(Array.isArray(amr) && amr.every((method) => METHODS.includes(method))))
    throw new TypeError(`amr must be a list of ${METHODS.join(', ')}`);
  if (via !== undefined && !(Array.isArray(via) && via.every(isName)))
    throw new TypeError('via must be a list of names of services');
  if (keys !== undefined && typeof keys !== 'boolean') throw new TypeError('keys must be true or false');
}

/** @throws TypeError for anything but a list of names, which is not empty */
export function requireFrom(options: FromServices): void {
  requireKnown('authorizeService does', options, ['from', 'signal'] satisfies (keyof FromServices)[]);
  const { from } = options;
  if (!Array.isArray(from) || from.length === 0 || !from.every(isName))
    throw new TypeError('from must be a list of names of services');
}

/** @throws TypeError for a name that no service can have */
export function requireAudience(audience: string): void {
  if (!isName(audience)) throw new TypeError('the audience must be the name of a service');
}

const isName = (name: unknown): boolean => typeof name === 'string' && SERVICE_NAME.test(name);

export function isAtLeast(role: Role, least: Role): boolean {
  return BY_RANK.indexOf(role) >= BY_RANK.indexOf(least);
}

export const lowerOf = (one: Role, other: Role): Role => (isAtLeast(one, other) ? other : one);

/** Returns whether the login is as recent and as strong as required. An API key has no login. */
export function isSteppedUp(
  login: { authTime: number; amr: readonly AuthenticationMethod[] } | undefined,
  required: StepUp,
): boolean {
  if (login === undefined) return required.maxAge === undefined && required.amr === undefined;
  const { authTime, amr } = login;
  if (required.maxAge !== undefined && Date.now() / 1000 - authTime > required.maxAge) return false;
  return required.amr === undefined || required.amr.every((method) => amr.includes(method));
}

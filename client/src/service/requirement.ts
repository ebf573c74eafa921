import type { AuthenticationMethod, Role } from '../api.gen.ts';
import { requireKnown } from '../known-members.ts';

export interface Wait {
  /** Ends this wait. The answer is then 503 `unavailable`. */
  signal?: AbortSignal | undefined;
}

/** A recent or a stronger login, where a route needs one (step-up authentication, RFC 9470). */
export interface StepUp {
  /** Most seconds since the user logged in. 0 admits nobody. */
  maxAge?: number | undefined;
  /** Methods that the login must have used: `['otp']` requires two-factor authentication. */
  amr?: readonly AuthenticationMethod[] | undefined;
}

/** What `authorize` requires of any user. */
export interface AnyUser extends StepUp, Wait {}

/** What `authorize` requires of a member. */
export interface InOrg extends AnyUser {
  /** Id of the organization in which the user must be a member. */
  orgId: string;
  /** The least role; any member if it is left out. */
  role?: Role | undefined;
  /**
   * A revision of the organization that the client has seen, such as that of its own change. The guard decides on this state
   * or a later one. A revision that does not exist refuses nobody.
   */
  atLeast?: number | undefined;
}

const BY_RANK: readonly Role[] = ['member', 'admin', 'owner'];
const METHODS: readonly AuthenticationMethod[] = ['pwd', 'otp'];
const OF_ANY_USER: readonly string[] = ['signal', 'maxAge', 'amr'] satisfies (keyof AnyUser)[];
const OF_MEMBERS: readonly string[] = [...OF_ANY_USER, 'orgId', 'role', 'atLeast'];

/**
 * Returns what a member has to be, or undefined where any user will do. A misspelled option would admit every user.
 *
 * @throws TypeError for options that mean nothing
 */
export function requirementOf(options: AnyUser | InOrg): InOrg | undefined {
  requireKnown('authorize does', options, OF_MEMBERS);
  requireStepUp(options);
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

/** @throws TypeError for an age or methods that no login can have */
export function requireStepUp({ maxAge, amr }: StepUp): void {
  if (maxAge !== undefined && !(typeof maxAge === 'number' && maxAge >= 0))
    throw new TypeError('maxAge must be a number of seconds');
  if (amr !== undefined && !(Array.isArray(amr) && amr.every((method) => METHODS.includes(method))))
    throw new TypeError(`amr must be a list of ${METHODS.join(' and ')}`);
}

export function isAtLeast(role: Role, least: Role): boolean {
  return BY_RANK.indexOf(role) >= BY_RANK.indexOf(least);
}

/** Whether the login was as recent and as strong as it is required to be. */
export function isSteppedUp(
  { authTime, amr }: { authTime: number; amr: readonly AuthenticationMethod[] },
  required: StepUp,
): boolean {
  if (required.maxAge !== undefined && Date.now() / 1000 - authTime > required.maxAge) return false;
  return required.amr === undefined || required.amr.every((method) => amr.includes(method));
}

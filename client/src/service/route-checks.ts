import type { Role } from '../api.gen.ts';
import { requireKnown } from '../known-members.ts';
import type { Admission, Guard, MemberAdmission } from './guard.ts';
import { revisionOf } from './own-revision.ts';
import type { Refusal } from './refusal.ts';
import { requireRole, requireStepUp, type StepUp } from './requirement.ts';

/** What a request of Express, Fastify and Nest has. */
export interface RouteRequest {
  headers: { authorization?: string | undefined; [name: string]: string | readonly string[] | undefined };
  params?: unknown;
}

/** What a route requires of a user. */
export type UserRequirement = StepUp;

/** What a route requires of a member. */
export interface MemberRequirement extends StepUp {
  /** The least role; any member if it is left out. */
  role?: Role | undefined;
  /** Returns the id of the organization; by default the parameter `orgId` of the route. */
  orgId?(request: RouteRequest): string;
}

/** Returns what to answer, or undefined if the route may run. */
export type RouteCheck = (guard: Guard, request: RouteRequest) => Promise<Refusal | undefined>;

const OF_USERS: readonly string[] = ['maxAge', 'amr'] satisfies (keyof UserRequirement)[];
const OF_MEMBERS: readonly string[] = [...OF_USERS, 'role', 'orgId'];

const admitted = new WeakMap<object, Admission | MemberAdmission>();

/** @throws TypeError for a requirement that means nothing, when the route is made */
export function userCheck(requirement: UserRequirement): RouteCheck {
  requireKnown('requireUser does', requirement, OF_USERS);
  requireStepUp(requirement);
  return async (guard, request) => {
    const answer = await guard.authorize(request.headers.authorization, requirement);
    if (!answer.ok) return answer;
    // A check of the whole router may have found the member already.
    if (!admitted.has(request)) admitted.set(request, answer);
    return undefined;
  };
}

/** @throws TypeError for a requirement that means nothing, when the route is made */
export function memberCheck(requirement: MemberRequirement): RouteCheck {
  requireKnown('requireMember does', requirement, OF_MEMBERS);
  requireStepUp(requirement);
  requireRole(requirement.role);
  const { role, maxAge, amr } = requirement;
  const find = (request: RouteRequest): string =>
    requirement.orgId ? requirement.orgId(request) : orgIdInPath(request);
  return async (guard, request) => {
    const orgId = find(request);
    const atLeast = revisionOf(request.headers['accounts-revision'], orgId);
    const options = { orgId, role, atLeast, maxAge, amr };
    const answer = await guard.authorize(request.headers.authorization, options);
    if (!answer.ok) return answer;
    admitted.set(request, answer);
    return undefined;
  };
}

/**
 * Returns the user whom the route has admitted.
 *
 * @throws TypeError if nothing guards the route
 */
export function admissionOf(request: object): Admission {
  const admission = admitted.get(request);
  if (!admission) throw new TypeError('the route is not guarded by requireUser or requireMember');
  return admission;
}

/**
 * Returns the member whom the route has admitted, with the role.
 *
 * @throws TypeError if nothing guards the route
 */
export function memberOf(request: object): MemberAdmission {
  const admission = admitted.get(request);
  if (!admission || !('role' in admission)) throw new TypeError('the route is not guarded by requireMember');
  return admission;
}

function orgIdInPath({ params }: RouteRequest): string {
  const { orgId } = (params ?? {}) as { orgId?: unknown };
  if (typeof orgId !== 'string')
    throw new TypeError('the path of the route has no parameter orgId: pass the option orgId');
  return orgId;
}

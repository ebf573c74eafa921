import type { Role } from '../api.gen.ts';
import { requireKnown } from '../known-members.ts';
import type {
  Admission,
  Guard,
  KeyAdmission,
  MemberAdmission,
  MemberKeyAdmission,
  ServiceAdmission,
} from './guard.ts';
import { revisionOf } from './own-revision.ts';
import type { Refusal } from './refusal.ts';
import { requireFrom, requireOfUsers, requireRole, type UserRequirement } from './requirement.ts';

/** The common part of requests of Express, Fastify and Nest. */
export interface RouteRequest {
  headers: { authorization?: string | undefined; [name: string]: string | readonly string[] | undefined };
  params?: unknown;
}

export type { UserRequirement } from './requirement.ts';

/** The requirements of a route for a member. */
export interface MemberRequirement extends UserRequirement {
  /** The lowest role that is admitted; by default any member. */
  role?: Role | undefined;
  /** Returns the id of the organization; by default the parameter `orgId` of the route. */
  orgId?(request: RouteRequest): string;
}

/** Returns the refusal to send, or undefined if the route may run. */
export type RouteCheck = (guard: Guard, request: RouteRequest) => Promise<Refusal | undefined>;

const OF_USERS: readonly string[] = ['maxAge', 'amr', 'via', 'keys'] satisfies (keyof UserRequirement)[];
const OF_MEMBERS: readonly string[] = [...OF_USERS, 'role', 'orgId'];

const admitted = new WeakMap<object, Admission | KeyAdmission | ServiceAdmission>();
/** The requests whose route also admits API keys. */
const orByKey = new WeakSet<object>();

/** For routes that also admit API keys. */
export interface OrByKey {
  keys: true;
}

/** @throws TypeError for an invalid requirement, when the route is defined */
export function userCheck(requirement: UserRequirement): RouteCheck {
  requireKnown('requireUser does', requirement, OF_USERS);
  requireOfUsers(requirement);
  return async (guard, request) => {
    const answer = await guard.authorize(request.headers.authorization, requirement);
    if (!answer.ok) return answer;
    // A check of the whole router may have admitted the user as a member already.
    if (!admitted.has(request)) note(request, answer, requirement);
    else if (requirement.keys !== true) orByKey.delete(request);
    return undefined;
  };
}

/** @throws TypeError for an invalid requirement, when the route is defined */
export function memberCheck(requirement: MemberRequirement): RouteCheck {
  requireKnown('requireMember does', requirement, OF_MEMBERS);
  requireOfUsers(requirement);
  requireRole(requirement.role);
  const { role, maxAge, amr, via, keys } = requirement;
  const find = (request: RouteRequest): string =>
    requirement.orgId ? requirement.orgId(request) : orgIdInPath(request);
  return async (guard, request) => {
    const orgId = find(request);
    const atLeast = revisionOf(request.headers['accounts-revision'], orgId);
    const options = { orgId, role, atLeast, maxAge, amr, via, keys };
    const answer = await guard.authorize(request.headers.authorization, options);
    if (!answer.ok) return answer;
    note(request, answer, requirement);
    return undefined;
  };
}

/** @throws TypeError for anything but names of services, when the route is defined */
export function serviceCheck(from: string | readonly string[]): RouteCheck {
  const options = { from: [from].flat() };
  requireFrom(options);
  return async (guard, request) => {
    const answer = await guard.authorizeService(request.headers.authorization, options);
    if (!answer.ok) return answer;
    admitted.set(request, answer);
    return undefined;
  };
}

function note(request: object, admission: Admission | KeyAdmission, { keys }: UserRequirement): void {
  admitted.set(request, admission);
  if (keys === true) orByKey.add(request);
  else orByKey.delete(request);
}

/**
 * Returns the user whom the route has admitted. If the route has `keys: true`, pass it here, too: then an API key may act for
 * the user, without a session.
 *
 * @throws TypeError if the route has no guard, and for a missing `keys`
 */
export function admissionOf(request: object): Admission;
export function admissionOf(request: object, or: OrByKey): Admission | KeyAdmission;
export function admissionOf(request: object, or?: OrByKey): Admission | KeyAdmission {
  const admission = admitted.get(request);
  if (!admission || 'service' in admission)
    throw new TypeError('the route is not guarded by requireUser or requireMember');
  // At the first request, and not only at the first one with a key.
  if (orByKey.has(request) && or?.keys !== true)
    throw new TypeError('the route also admits API keys: pass { keys: true }');
  return admission;
}

/**
 * Returns the member whom the route has admitted, with the role. `keys` is as for `admissionOf`.
 *
 * @throws TypeError if the route has no guard, and for a missing `keys`
 */
export function memberOf(request: object): MemberAdmission;
export function memberOf(request: object, or: OrByKey): MemberAdmission | MemberKeyAdmission;
export function memberOf(request: object, or?: OrByKey): MemberAdmission | MemberKeyAdmission {
  const admission = admitted.get(request);
  if (!admission || !('role' in admission)) throw new TypeError('the route is not guarded by requireMember');
  return admissionOf(request, or!) as MemberAdmission | MemberKeyAdmission;
}

/**
 * Returns the service that the route has admitted.
 *
 * @throws TypeError if the route has no guard
 */
export function serviceOf(request: object): ServiceAdmission['service'] {
  const admission = admitted.get(request);
  if (!admission || !('service' in admission))
    throw new TypeError('the route is not guarded by requireService');
  return admission.service;
}

function orgIdInPath({ params }: RouteRequest): string {
  const { orgId } = (params ?? {}) as { orgId?: unknown };
  if (typeof orgId !== 'string')
    throw new TypeError('the path of the route has no parameter orgId: pass the option orgId');
  return orgId;
}

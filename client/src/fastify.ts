import type { Guard } from './service/guard.ts';
import {
  memberCheck,
  type MemberRequirement,
  type RouteCheck,
  type RouteRequest,
  serviceCheck,
  userCheck,
  type UserRequirement,
} from './service/route-checks.ts';

export { admissionOf, memberOf, serviceOf } from './service/route-checks.ts';
export type { MemberRequirement, RouteRequest, UserRequirement } from './service/route-checks.ts';

interface Reply {
  code(status: number): unknown;
  headers(headers: Record<string, string>): unknown;
  send(body: string): unknown;
}

/** A hook of Fastify: `onRequest`, `preValidation` or `preHandler`. */
export type Hook = (request: RouteRequest, reply: Reply) => Promise<unknown>;

/**
 * Admits any user with a valid access token. `admissionOf(request)` is the user.
 *
 * @throws TypeError for an invalid requirement
 */
export function requireUser(guard: Guard, requirement: UserRequirement = {}): Hook {
  return hook(guard, userCheck(requirement));
}

/**
 * Admits members of the organization `:orgId` of the path. `memberOf(request)` is the member. The header `Accounts-Revision`
 * of the request is the lowest revision on which the guard may decide.
 *
 * @throws TypeError for an invalid requirement
 */
export function requireMember(guard: Guard, requirement: MemberRequirement = {}): Hook {
  return hook(guard, memberCheck(requirement));
}

/**
 * Admits the services `from` when they call for themselves. `serviceOf(request).name` is the service.
 *
 * @throws TypeError for anything but a name or a list of names
 */
export function requireService(guard: Guard, from: string | readonly string[]): Hook {
  return hook(guard, serviceCheck(from));
}

function hook(guard: Guard, check: RouteCheck): Hook {
  return async (request, reply) => {
    const refusal = await check(guard, request);
    if (!refusal) return undefined;
    reply.code(refusal.status);
    reply.headers(refusal.headers);
    reply.send(JSON.stringify(refusal.problem));
    return reply;
  };
}

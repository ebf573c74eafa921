import type { ServerResponse } from 'node:http';
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

/** Middleware for Express 4 and 5. */
export type Middleware = (
  request: RouteRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

/**
 * Admits any user with a valid access token. `admissionOf(request)` is the user.
 *
 * @throws TypeError for an invalid requirement
 */
export function requireUser(guard: Guard, requirement: UserRequirement = {}): Middleware {
  return middleware(guard, userCheck(requirement));
}

/**
 * Admits members of the organization `:orgId` of the path. `memberOf(request)` is the member. The header `Accounts-Revision`
 * of the request is the lowest revision on which the guard may decide.
 *
 * @throws TypeError for an invalid requirement
 */
export function requireMember(guard: Guard, requirement: MemberRequirement = {}): Middleware {
  return middleware(guard, memberCheck(requirement));
}

/**
 * Admits the services `from` when they call for themselves. `serviceOf(request).name` is the service.
 *
 * @throws TypeError for anything but a name or a list of names
 */
export function requireService(guard: Guard, from: string | readonly string[]): Middleware {
  return middleware(guard, serviceCheck(from));
}

/** Express 4 does not catch the rejection of a promise. */
function middleware(guard: Guard, check: RouteCheck): Middleware {
  return async (request, response, next) => {
    let refusal;
    try {
      refusal = await check(guard, request);
    } catch (error) {
      return next(error);
    }
    if (!refusal) return next();
    // A timeout of the server may have sent a response meanwhile.
    if (response.headersSent) return;
    response.writeHead(refusal.status, refusal.headers).end(JSON.stringify(refusal.problem));
  };
}

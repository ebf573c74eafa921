import type { Role } from '../api.gen.ts';
import type { StepUp } from './requirement.ts';

/** The response to send: status, headers, and a body of problem details (RFC 9457). */
export interface Refusal {
  ok: false;
  status: 400 | 401 | 403 | 503;
  headers: Record<string, string>;
  problem: RefusalProblem;
  /** Why the token is not valid, or why the guard cannot decide. Log it, but do not send it to the client. */
  cause?: unknown;
}

export interface RefusalProblem {
  type: 'about:blank';
  title: string;
  status: number;
  code:
    | 'unauthorized'
    | 'invalid_token'
    | 'insufficient_user_authentication'
    | 'not_a_member'
    | 'insufficient_role'
    | 'caller_not_allowed'
    | 'invalid_code'
    | 'unavailable';
  detail: string;
  /** With `insufficient_role` */
  requiredRole?: Role;
  /** With `insufficient_user_authentication`, if the route requires a recent login: seconds */
  maxAge?: number;
  /** With `insufficient_user_authentication`, if the route requires these methods */
  amr?: StepUp['amr'];
}

const TITLES = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 503: 'Service Unavailable' };

function refusal(
  status: Refusal['status'],
  code: RefusalProblem['code'],
  detail: string,
  headers: Record<string, string> = {},
): Refusal {
  return {
    ok: false,
    status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers },
    problem: { type: 'about:blank', title: TITLES[status], status, code, detail },
  };
}

export const unauthorized = (): Refusal =>
  refusal(401, 'unauthorized', 'Send an access token: Authorization: Bearer <token>.', {
    'WWW-Authenticate': 'Bearer',
  });

const TOKEN_INVALID = 'The access token is malformed, expired or revoked. Log in again.';
/** Does not reveal whether Accounts knows the key. */
const KEY_INVALID = 'The API key is not valid here: it has ended, or it is for another service.';

export function invalidToken(cause: unknown, detail: string = TOKEN_INVALID): Refusal {
  const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
  return { ...refusal(401, 'invalid_token', detail, headers), cause };
}

export const invalidKey = (cause: unknown): Refusal => invalidToken(cause, KEY_INVALID);

/** The user must log in again, with a second factor if `amr` contains it (RFC 9470). */
export function insufficientAuthentication({ maxAge, amr }: StepUp): Refusal {
  const age = maxAge === undefined ? '' : `, max_age="${Math.floor(maxAge)}"`;
  const detail = 'A more recent or stronger login is required.';
  const code = 'insufficient_user_authentication';
  const refused = refusal(401, code, detail, {
    'WWW-Authenticate': `Bearer error="${code}", error_description="${detail}"${age}`,
  });
  const needed = { ...(maxAge !== undefined && { maxAge }), ...(amr !== undefined && { amr }) };
  return { ...refused, problem: { ...refused.problem, ...needed } };
}

export const notAMember = (): Refusal =>
  refusal(403, 'not_a_member', 'You are not a member of this organization.');

/** Another service, a user where services call, a service where users call, or a way that the route excludes. */
export const callerNotAllowed = (): Refusal =>
  refusal(403, 'caller_not_allowed', 'The token is valid, but this operation does not accept it.');

export const invalidCode = (): Refusal =>
  refusal(400, 'invalid_code', 'The code is wrong, used, expired or bound to another service.');

export const unavailable = (cause: unknown): Refusal => ({
  ...refusal(503, 'unavailable', 'The service cannot check your permissions right now. Try again.', {
    'Retry-After': '1',
  }),
  cause,
});

export function insufficientRole(requiredRole: Role, isKey: boolean): Refusal {
  const least = requiredRole === 'owner' ? requiredRole : `${requiredRole} or a higher one`;
  const limit = isKey ? ', and an API key has at most its own role' : '';
  const refused = refusal(403, 'insufficient_role', `This needs the role ${least}${limit}.`);
  return { ...refused, problem: { ...refused.problem, requiredRole } };
}

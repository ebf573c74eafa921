import type { Role } from '../api.gen.ts';
import type { StepUp } from './requirement.ts';

/** Send this in place of the answer: status, headers, and a body of problem details (RFC 9457). */
export interface Refusal {
  ok: false;
  status: 400 | 401 | 403 | 503;
  headers: Record<string, string>;
  problem: RefusalProblem;
  /** why a token is not valid or nothing can be told now: for the log, and not for the client */
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
    | 'invalid_code'
    | 'unavailable';
  detail: string;
  /** with `insufficient_role` */
  requiredRole?: Role;
  /** with `insufficient_user_authentication`, if the route requires a recent login: seconds */
  maxAge?: number;
  /** with `insufficient_user_authentication`, if the route requires these methods */
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
  refusal(401, 'unauthorized', 'An access token is needed.', { 'WWW-Authenticate': 'Bearer' });

export const invalidToken = (cause: unknown): Refusal => ({
  ...refusal(401, 'invalid_token', 'The access token is not valid, or not any more.', {
    'WWW-Authenticate': 'Bearer error="invalid_token"',
  }),
  cause,
});

/** The client has to log in again, with a second factor if `amr` names it (RFC 9470). */
export function insufficientAuthentication({ maxAge, amr }: StepUp): Refusal {
  const age = maxAge === undefined ? '' : `, max_age="${Math.floor(maxAge)}"`;
  const detail = 'A more recent or a stronger login is needed.';
  const code = 'insufficient_user_authentication';
  const refused = refusal(401, code, detail, {
    'WWW-Authenticate': `Bearer error="${code}", error_description="${detail}"${age}`,
  });
  const needed = { ...(maxAge !== undefined && { maxAge }), ...(amr !== undefined && { amr }) };
  return { ...refused, problem: { ...refused.problem, ...needed } };
}

export const notAMember = (): Refusal =>
  refusal(403, 'not_a_member', 'You are no member of this organization.');

export const invalidCode = (): Refusal =>
  refusal(400, 'invalid_code', 'The code is wrong, used or expired, or not for this service.');

export const unavailable = (cause: unknown): Refusal => ({
  ...refusal(503, 'unavailable', 'Whether you may do this cannot be decided now. Try again.', {
    'Retry-After': '1',
  }),
  cause,
});

export function insufficientRole(requiredRole: Role): Refusal {
  const least = requiredRole === 'owner' ? requiredRole : `${requiredRole} or a higher one`;
  const refused = refusal(403, 'insufficient_role', `This needs the role ${least}.`);
  return { ...refused, problem: { ...refused.problem, requiredRole } };
}

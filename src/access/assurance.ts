import type { Env } from '../config/env.js';
import { InsufficientUserAuthenticationError, PasswordSessionRequiredError } from './access.errors.js';
import type { UserPrincipal } from './principal.js';

/** A demand on a session, besides that it is alive. */
export interface Assurance {
  /** a login, and no session of a service that holds a user's token from a one-time code */
  by: 'password';
  /** demands on the login itself: another one can meet them (RFC 9470) */
  login?: LoginDemands;
}

interface LoginDemands {
  secondFactor: boolean;
  maxAge: number;
}

/** Something that is not known of a session is taken as missing. */
type Session = Pick<UserPrincipal, 'isDelegated'> & Partial<Pick<UserPrincipal, 'amr' | 'authTime'>>;

export const BY_PASSWORD: Assurance = { by: 'password' };

export const operatorsAssurance = ({ operatorsSecondFactor, operatorsLoginAge }: Env): Assurance => ({
  by: 'password',
  login: { secondFactor: operatorsSecondFactor === 'required', maxAge: operatorsLoginAge },
});

/**
 * Routes declare an assurance; policies ask for one where the data decide.
 * @throws PasswordSessionRequiredError, InsufficientUserAuthenticationError
 */
export function requireAssurance(session: Session, assurance: Assurance | undefined): void {
  if (!assurance) return;
  const { login } = assurance;
  if (login && !meets(session, login)) throw new InsufficientUserAuthenticationError(login);
  if (session.isDelegated) throw new PasswordSessionRequiredError();
}

/** A session that a code opened inherits how and when the user logged in, but logging in again is what it takes, too. */
function meets(
  { isDelegated, amr = [], authTime = 0 }: Session,
  { secondFactor, maxAge }: LoginDemands,
): boolean {
  if (isDelegated || (secondFactor && !amr.includes('otp'))) return false;
  return Date.now() - authTime <= maxAge * 1000;
}

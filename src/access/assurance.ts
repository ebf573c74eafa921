import { PasswordSessionRequiredError } from './access.errors.js';
import type { UserPrincipal } from './principal.js';

/** A demand on a session, besides that it is alive. */
export interface Assurance {
  /** a login, and no session of a service that holds a user's token from a one-time code */
  by: 'password';
}

export const BY_PASSWORD: Assurance = { by: 'password' };

/** Routes declare an assurance; policies ask for one where the data decide. @throws PasswordSessionRequiredError */
export function requireAssurance(
  { parentId }: Pick<UserPrincipal, 'parentId'>,
  assurance: Assurance | undefined,
): void {
  if (assurance?.by === 'password' && parentId !== null) throw new PasswordSessionRequiredError();
}

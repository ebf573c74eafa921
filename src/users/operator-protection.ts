import { type Actor, isSignedInOperator } from '../access/principal.js';
import { OperatorProtectedError } from './users.errors.js';

/** Over HTTP nobody changes the account of an operator, so that no operator can take another's. */
export function requireUnprotected(actor: Actor, operatorSince: number | null): void {
  if (operatorSince !== null && isSignedInOperator(actor)) throw new OperatorProtectedError();
}

import type { UserActor } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';

/** The invitation whose code somebody typed. */
export interface TypedInvitation {
  id: string;
  orgId: string;
  codeNumber: number;
}

/** What is left to do once the account is there: it joins. */
export type Joining = (userId: string, actor: UserActor) => Promise<void>;

/** What a registration with the code of an invitation needs of organizations, which are built upon accounts. */
export abstract class RegistrationInvitations {
  /**
   * Counts a try.
   * @param email canonical
   * @param code as it was typed
   * @param client whose turn it takes
   * @throws InvalidMailCodeError
   */
  abstract find(email: string, code: string, client: string): Promise<TypedInvitation>;

  /**
   * The first step of the transaction that makes the account: takes the locks.
   * @throws InvalidMailCodeError when it has ended meanwhile
   */
  abstract begin(transaction: Transaction, invitation: TypedInvitation): Promise<Joining>;
}

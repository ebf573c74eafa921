import type { UserActor } from '../access/principal.js';
import type { Transaction } from '../database/transactions/transaction.js';

export interface TypedInvitation {
  id: string;
  orgId: string;
  codeNumber: number;
}

export type Joining = (userId: string, actor: UserActor) => Promise<void>;

/** The port through which `auth` accepts invitation codes: organizations are built upon accounts. */
export abstract class RegistrationInvitations {
  /** Counts a try of `client`. `email` is normalized, `code` as typed. Throws InvalidEmailCodeError. */
  abstract find(email: string, code: string, client: string): Promise<TypedInvitation>;

  /**
   * Runs the work in a transaction that has locked the organization first. The work creates the user, then calls `join`.
   * @throws InvalidEmailCodeError if the invitation has ended meanwhile
   */
  abstract register<T extends object>(
    invitation: TypedInvitation,
    client: string,
    work: (transaction: Transaction, join: Joining) => Promise<T>,
  ): Promise<T>;
}

import type { UserActor } from '../access/actor.js';
import type { Transaction } from '../database/transaction.js';

export interface TypedInvitation {
  id: string;
  orgId: string;
  codeNumber: number;
}

export type Joining = (userId: string, actor: UserActor) => Promise<void>;

/** The port through which `auth` accepts invitation codes: organizations are built upon accounts. */
export abstract class RegistrationInvitations {
  /** Counts a try, in a turn of `client`. `email` is canonical, `code` as typed. Throws InvalidMailCodeError. */
  abstract find(email: string, code: string, client: string): Promise<TypedInvitation>;

  /** Takes locks, so it must be called first. Throws InvalidMailCodeError when the invitation has ended meanwhile. */
  abstract begin(transaction: Transaction, invitation: TypedInvitation): Promise<Joining>;
}

import type { Actor } from '../access/principal.js';
import type { Transaction } from '../database/transactions/transaction.js';
import type { NewEvent } from '../events/event-types.js';

/** An organization that has no enabled owner any more. */
export interface OrphanedOrg {
  id: string;
  /** whether it was deleted, since nobody else was a member */
  isDeleted: boolean;
}

/** The outcome; the caller records the events together with its own, which have the same time. */
export interface Consequences {
  orphaned: OrphanedOrg[];
  events: NewEvent[];
}

/** The organizations of a user, decided on in the transaction of the change, and free to do without the user. */
export interface UserDeparture {
  /** Ends the memberships of a user who is deleted. */
  leave(actor: Actor): Promise<Consequences>;
  /** Ends what a disabled user may no longer do; they stay a member. */
  stayDisabled(actor: Actor): Promise<Consequences>;
}

/**
 * Reads the organizations in the transaction, once the user's row is written.
 * @param force allows an organization to be left without an enabled owner
 * @throws RefusedError where that is not allowed
 */
export type Decide = (force: boolean) => Promise<UserDeparture>;

/** The organizations that depend on a user, as the room that has them registers them. */
export interface UserTies {
  readonly tables: readonly string[];
  findOrgIdsOf(userId: string): Promise<string[]>;
  /** Runs a change of a user in a transaction that has locked all of them; starts it over where one was missing. */
  run<T>(
    actor: Actor,
    userId: string,
    work: (transaction: Transaction, decide: Decide) => Promise<T>,
  ): Promise<T>;
}

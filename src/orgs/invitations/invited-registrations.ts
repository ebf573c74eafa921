import { Injectable } from '@nestjs/common';
import { InvalidMailCodeError } from '../../auth/mail-codes/mail-codes.errors.js';
import {
  type Joining,
  RegistrationInvitations,
  type TypedInvitation,
} from '../../auth/registration-invitations.js';
import type { Transaction } from '../../database/transaction.js';
import { InvitationFactsRepository } from './invitation-facts.repository.js';
import { isOpen } from './invitation-policy.js';
import { OrgChanges } from '../org-changes.js';
import { Joinings } from './joinings.js';
import { TypedCodes } from './typed-codes.js';

/** Lets a new account join at once. Errors do not tell whether the code or the email is wrong. */
@Injectable()
export class InvitedRegistrations extends RegistrationInvitations {
  constructor(
    private readonly typedCodes: TypedCodes,
    private readonly changes: OrgChanges,
    private readonly facts: InvitationFactsRepository,
    private readonly joinings: Joinings,
  ) {
    super();
  }

  async find(email: string, code: string, client: string): Promise<TypedInvitation> {
    const invitation = await this.typedCodes.find(email, code, client);
    if (!invitation) throw new InvalidMailCodeError();
    return invitation;
  }

  /** Locks the organization before it creates the account, the same order as an addition by email. */
  async begin(transaction: Transaction, { id, orgId, codeNumber }: TypedInvitation): Promise<Joining> {
    const lookup = this.facts.answering;
    const facts = await this.changes.lock(transaction, { orgId, lookup, key: { id, userId: '' } });
    if (!facts || facts.codeNumber !== codeNumber || !isOpen(facts, Date.now())) {
      throw new InvalidMailCodeError();
    }
    return async (userId, actor) => {
      const isMember = await this.joinings.join(transaction, facts, { userId, actor, hasCode: true });
      if (!isMember) throw new InvalidMailCodeError();
    };
  }
}

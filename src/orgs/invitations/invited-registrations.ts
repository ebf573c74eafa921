import { Injectable } from '@nestjs/common';
import { InvalidEmailCodeError } from '../../auth/email-codes/email-codes.js';
import {
  type Joining,
  RegistrationInvitations,
  type TypedInvitation,
} from '../../auth/registration-invitations.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { InvitationsRepository } from '../state/invitations.repository.js';
import { isOpen } from '../state/invitation-policy.js';
import { OrgChanges } from '../state/org-changes.js';
import { Joinings } from './joinings.js';
import { TypedCodes } from './typed-codes.js';

/** Lets a new account join at once. Errors do not tell whether the code or the email is wrong. */
@Injectable()
export class InvitedRegistrations extends RegistrationInvitations {
  constructor(
    private readonly typedCodes: TypedCodes,
    private readonly changes: OrgChanges,
    private readonly invitations: InvitationsRepository,
    private readonly joinings: Joinings,
  ) {
    super();
  }

  async find(email: string, code: string, client: string): Promise<TypedInvitation> {
    const invitation = await this.typedCodes.find(email, code, client);
    if (!invitation) throw new InvalidEmailCodeError();
    return invitation;
  }

  async register<T extends object>(
    { id, orgId, codeNumber }: TypedInvitation,
    client: string,
    work: (transaction: Transaction, join: Joining) => Promise<T>,
  ): Promise<T> {
    const { answer } = await this.changes.inOrg<T>(
      { actor: { kind: 'system', address: client } },
      orgId,
      async (tx, org) => {
        const facts = await this.invitations.findAnswering(id, '', tx);
        if (!facts || facts.codeNumber !== codeNumber || !isOpen(facts, Date.now())) {
          throw new InvalidEmailCodeError();
        }
        return work(tx, async (userId, actor) => {
          const isMember = await this.joinings.join(tx, org, facts, { userId, actor, hasCode: true });
          if (!isMember) throw new InvalidEmailCodeError();
        });
      },
      { evenDeleted: true, missing: () => new InvalidEmailCodeError() },
    );
    return answer;
  }
}

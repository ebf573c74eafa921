import { Injectable } from '@nestjs/common';
import { typedCode } from '../../auth/email-codes/email-code-text.js';
import { EmailCodes } from '../../auth/email-codes/email-codes.js';
import { Transactions } from '../../database/transactions/transactions.js';
import type { Invitation } from '../state/invitation.entity.js';
import { type CandidateInvitation, InvitationLists } from '../state/invitations.lists.js';
import { InvitationsRepository, MAX_CODE_TRIES } from '../state/invitations.repository.js';

/** Stands in where there is no invitation, so that it costs the same work. */
const NOBODY: CandidateInvitation = {
  id: '00000000-0000-7000-8000-000000000000',
  orgId: '',
  codeNumber: 0,
};

@Injectable()
export class TypedCodes {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly list: InvitationLists,
    private readonly codes: EmailCodes,
    private readonly transactions: Transactions,
  ) {}

  /** Counts an attempt. Returns undefined if the text cannot be a code, or the attempts are used up. */
  async count(invitationId: string, typed: string): Promise<string | undefined> {
    const code = typedCode(typed);
    const counts = code !== undefined && (await this.invitations.countTry(invitationId));
    return counts ? code : undefined;
  }

  isRight(invitation: Pick<Invitation, 'id' | 'codeNumber' | 'tries'>, code: string): boolean {
    return this.isDerived(invitation, code) && invitation.tries <= MAX_CODE_TRIES;
  }

  /** A right code counts as a try for its invitation, a wrong one as a try for each candidate. */
  async find(email: string, typed: string, principal: string): Promise<CandidateInvitation | undefined> {
    const code = typedCode(typed);
    if (code === undefined) return undefined;
    const found = await this.list.findCandidates(email, Date.now());
    const candidates = found.length > 0 ? found : [NOBODY];
    const right = candidates.find((candidate) => this.isDerived(candidate, code));
    const tried = right ? [right] : candidates;
    // Counts the try before anything is told of the code, so that simultaneous ones cannot exceed the limit.
    const ids = tried.map(({ id }) => id);
    const counted = await this.transactions.run({ principal }, async (transaction) => {
      // This writes for every email: the time must not tell which ones are invited.
      await this.codes.keepPlace(transaction, { purpose: 'invitation', subject: email });
      return this.invitations.countTries(transaction, ids);
    });
    return counted > 0 ? right : undefined;
  }

  private isDerived({ id, codeNumber }: Pick<Invitation, 'id' | 'codeNumber'>, code: string): boolean {
    return this.codes.isDerived({ id, codeNumber, purpose: 'invitation' }, code);
  }
}

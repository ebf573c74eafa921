import { Injectable, type OnModuleInit } from '@nestjs/common';
import { readable } from '../../auth/email-codes/email-code-text.js';
import { EmailCodes } from '../../auth/email-codes/email-codes.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { harmless } from '../../mail/template.js';
import { type MailComposer, MailComposers, type MailText } from '../../mail/mail-composers.js';
import type { Mail } from '../../mail/mail.entity.js';
import { MailLimitsRepository } from '../../mail/mail-limits.repository.js';
import { Mails } from '../../mail/mails.js';
import { RateLimitedError } from '../../rate-limits/admissions.js';
import type { Invitation } from '../state/invitation.entity.js';
import { InvitationListRepository, type MailedInvitation } from '../state/invitation-list.repository.js';

const DAY_MS = 86_400_000;

type MailableInvitation = Pick<
  Invitation,
  'id' | 'orgId' | 'email' | 'codeNumber' | 'invitedBy' | 'expiresAt'
>;

@Injectable()
export class InvitationMails implements MailComposer, OnModuleInit {
  constructor(
    private readonly invitations: InvitationListRepository,
    private readonly codes: EmailCodes,
    private readonly mails: Mails,
    private readonly limits: MailLimitsRepository,
    private readonly composers: MailComposers,
  ) {}

  onModuleInit(): void {
    this.composers.register('invitation', this);
  }

  requireServer(): void {
    this.mails.requireServer();
  }

  /**
   * Limits emails per day by counting the outbox: all instances see it, and it survives them.
   * @throws RateLimitedError
   */
  async enqueue(transaction: Transaction, invitation: MailableInvitation): Promise<void> {
    const { id, orgId, email: recipient, codeNumber, invitedBy: senderId, expiresAt } = invitation;
    const now = Date.now();
    const mail = { recipient, orgId, senderId };
    const last = await this.limits.findLimitingInvitation(transaction, mail, now - DAY_MS);
    if (last !== undefined) {
      const waitMs = Math.max(1, last + DAY_MS - now);
      throw new RateLimitedError(TOO_MANY_MAILS, Math.ceil(waitMs / 1000));
    }
    await this.mails.enqueue(transaction, {
      kind: 'invitation',
      recipient,
      senderId,
      orgId,
      code: { id, number: codeNumber },
      expiresAt,
    });
  }

  /** @returns undefined if the invitation or its code is void, or concurrent emails reached a limit first */
  async compose(mail: Mail): Promise<MailText | undefined> {
    const { codeId: id, codeNumber } = mail;
    if (id === null || codeNumber === null) return undefined;
    if (await this.limits.isBeyondLimits(mail, Date.now() - DAY_MS)) return undefined;
    const invitation = await this.invitations.findMailed(id, codeNumber, Date.now());
    if (!invitation) return undefined;
    return {
      template: 'invitation',
      code: this.codeOf({ id, codeNumber }),
      organization: `"${harmless(invitation.orgName)}"`,
      inviter: inviterOf(invitation),
    };
  }

  codeOf({ id, codeNumber }: Pick<Invitation, 'id' | 'codeNumber'>): string {
    return readable(this.codes.textOf({ id, purpose: 'invitation', codeNumber }));
  }
}

export const TOO_MANY_MAILS =
  'Too many invitations were mailed in the last day to this e-mail, by you or for this organization; try again later.';

/** An unverified inviter may have registered a foreign address, so the mail says so. */
function inviterOf({ inviterEmail, inviterVerifiedAt }: MailedInvitation): string {
  const email = harmless(inviterEmail);
  return inviterVerifiedAt === null ? `${email} (an address that is not verified)` : email;
}

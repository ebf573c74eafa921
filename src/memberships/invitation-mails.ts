import { Injectable } from '@nestjs/common';
import { readable } from '../auth/mail-codes/mail-code-text.js';
import { MailCodes } from '../auth/mail-codes/mail-codes.js';
import type { Transaction } from '../database/transaction.js';
import type { MailText } from '../mail/mail-composer.js';
import type { Mail } from '../mail/mail.entity.js';
import { Mails } from '../mail/mails.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { RateLimitedError } from '../rate-limits/rate-limits.errors.js';
import type { Invitation } from './invitation.entity.js';
import { InvitationListRepository, type MailedInvitation } from './invitation-list.repository.js';

const DAY_MS = 86_400_000;

const LINE_BREAK = /[\p{Zl}\p{Zp}]/gu;
/** such as what turns the direction of a text */
const INVISIBLE = /\p{Cf}/gu;

type MailableInvitation = Pick<
  Invitation,
  'id' | 'orgId' | 'email' | 'codeNumber' | 'invitedBy' | 'expiresAt'
>;

/** Mails invitations, with their codes. */
@Injectable()
export class InvitationMails {
  constructor(
    private readonly invitations: InvitationListRepository,
    private readonly codes: MailCodes,
    private readonly mails: Mails,
    private readonly outbox: MailsRepository,
  ) {}

  /** @throws MailUnavailableError without an SMTP server */
  requireServer(): void {
    this.mails.requireServer();
  }

  /**
   * So many a day for each recipient, inviter and organization, counted in the outbox: all instances see it, and it
   * survives them.
   * @throws RateLimitedError
   */
  async enqueue(transaction: Transaction, invitation: MailableInvitation): Promise<void> {
    const { id, orgId, email: recipient, codeNumber, invitedBy: senderId, expiresAt } = invitation;
    const now = Date.now();
    const mail = { recipient, orgId, senderId };
    const last = await this.outbox.findLimitingInvitation(transaction, mail, now - DAY_MS);
    if (last !== undefined) {
      const waitMs = Math.max(1, last + DAY_MS - now);
      throw new RateLimitedError(TOO_MANY_MAILS, Math.ceil(waitMs / 1000));
    }
    await this.mails.enqueue(transaction, {
      kind: 'invitation',
      recipient,
      invitation: { orgId, senderId },
      code: { id, number: codeNumber },
      expiresAt,
    });
  }

  /** undefined: the invitation, or its code, is dead; or others at the same moment have reached a limit before it */
  async compose(mail: Mail): Promise<MailText | undefined> {
    const { codeId: id, codeNumber } = mail;
    if (id === null || codeNumber === null) return undefined;
    if (await this.outbox.isBeyondLimits(mail, Date.now() - DAY_MS)) return undefined;
    const invitation = await this.invitations.findMailed(id, codeNumber, Date.now());
    if (!invitation) return undefined;
    return {
      template: 'invitation',
      code: this.codeOf({ id, codeNumber }),
      organization: quoted(invitation.orgName),
      inviter: inviterOf(invitation),
    };
  }

  /** As people read it. */
  codeOf({ id, codeNumber }: Pick<Invitation, 'id' | 'codeNumber'>): string {
    return readable(this.codes.textOf({ id, purpose: 'invitation', codeNumber }));
  }
}

export const TOO_MANY_MAILS =
  'Too many invitations were mailed to this e-mail, by you or for this organization in a day; try again later.';

/** The name is somebody's choice: it must not look like a part of the text. */
function quoted(name: string): string {
  return `"${name.replaceAll(LINE_BREAK, ' ').replaceAll(INVISIBLE, '').replaceAll('"', "'")}"`;
}

/** Whoever registers an address first is called by it. */
function inviterOf({ inviterEmail, inviterVerifiedAt }: MailedInvitation): string {
  return inviterVerifiedAt === null ? `${inviterEmail} (an address that is not verified)` : inviterEmail;
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { isNotice, type Mail } from '../mail/mail.entity.js';
import { RefusedError } from '../problems/problem.js';
import { Mails } from '../mail/mails.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationListsRepository } from '../orgs/state/invitations.lists.js';
import { UsersRepository } from '../users/users.repository.js';

/** Sends an email again, unless the worker would drop it: see `MailTexts`. */
@Injectable()
export class OperatedMails {
  constructor(
    private readonly rows: MailsRepository,
    private readonly mails: Mails,
    private readonly codes: EmailCodesRepository,
    private readonly users: UsersRepository,
    private readonly invitations: InvitationListsRepository,
  ) {}

  async retry(id: string, actor: Actor): Promise<void> {
    const mail = await this.rows.find(id);
    const reason = mail && canBeSent(mail) ? await this.findReasonToDrop(mail) : undefined;
    if (reason !== undefined) {
      throw new RefusedError(reason, 'mail_obsolete', { detail: `The email is not sent: ${reason}.` });
    }
    await this.mails.retryOne(id, actor);
  }

  private async findReasonToDrop({ kind, recipient, codeId, codeNumber }: Mail): Promise<string | undefined> {
    if (isNotice(kind)) return undefined;
    const hasCode = codeId !== null && codeNumber !== null;
    if (kind === 'invitation') {
      const isOpen = hasCode && (await this.invitations.findMailed(codeId, codeNumber, Date.now()));
      return isOpen ? undefined : 'its invitation has ended or has a new code';
    }
    const user = await this.users.findByEmail(recipient);
    if (kind === 'password_reset' && user?.disabledAt !== null)
      return 'no enabled user has its email address';
    if (kind === 'password_reset' && codeId === null) return undefined;
    if (kind === 'email_change' && user) return undefined;
    const isCurrent = hasCode && (await this.codes.isCurrent(codeId, codeNumber));
    return isCurrent ? undefined : 'its code was used, replaced or voided';
  }
}

function canBeSent({ state, expiresAt }: Mail): boolean {
  const isOpen = state === 'waiting' || state === 'failed';
  return isOpen && (expiresAt === null || expiresAt > Date.now());
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { isNotice, type Mail } from '../mail/mail.entity.js';
import { RefusedError } from '../problems/problem.js';
import { Mails } from '../mail/mails.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { InvitationLists } from '../orgs/state/invitations.lists.js';
import { UsersRepository } from '../users/users.repository.js';

const VOID_CODE = 'its code was used, replaced or voided';
const NO_USER = 'no enabled user has its email address';
const ENDED_INVITATION = 'its invitation has ended or has a new code';

/** Sends an email again, unless the worker would drop it. */
@Injectable()
export class OperatedMails {
  constructor(
    private readonly rows: MailsRepository,
    private readonly mails: Mails,
    private readonly codes: EmailCodesRepository,
    private readonly users: UsersRepository,
    private readonly invitations: InvitationLists,
  ) {}

  /** @throws MailNotFoundError, RefusedError */
  async retry(id: string, actor: Actor): Promise<void> {
    const mail = await this.rows.find(id);
    const reason = mail && canBeSent(mail) ? await this.findReasonToDrop(mail) : undefined;
    if (reason !== undefined)
      throw new RefusedError(reason, 'mail_obsolete', `The mail is not sent: ${reason}.`);
    await this.mails.retryOne(id, actor);
  }

  private async findReasonToDrop(mail: Mail): Promise<string | undefined> {
    const { kind, codeId } = mail;
    if (isNotice(kind)) return undefined;
    if (kind === 'invitation') return (await this.isInvitationOpen(mail)) ? undefined : ENDED_INVITATION;
    if (kind === 'password_reset') {
      if (!(await this.hasEnabledUser(mail))) return NO_USER;
      // Its code is issued when the mail is sent for the first time.
      if (codeId === null) return undefined;
    }
    // It says so if another user has the address by now.
    if (kind === 'email_change' && (await this.hasUser(mail))) return undefined;
    return (await this.isCodeCurrent(mail)) ? undefined : VOID_CODE;
  }

  private async isCodeCurrent({ codeId, codeNumber }: Mail): Promise<boolean> {
    return codeId !== null && codeNumber !== null && this.codes.isCurrent(codeId, codeNumber);
  }

  private async isInvitationOpen({ codeId, codeNumber }: Mail): Promise<boolean> {
    if (codeId === null || codeNumber === null) return false;
    return (await this.invitations.findMailed(codeId, codeNumber, Date.now())) !== undefined;
  }

  private async hasUser({ recipient }: Mail): Promise<boolean> {
    return (await this.users.findByEmail(recipient)) !== null;
  }

  private async hasEnabledUser({ recipient }: Mail): Promise<boolean> {
    return (await this.users.findByEmail(recipient))?.disabledAt === null;
  }
}

function canBeSent({ state, expiresAt }: Mail): boolean {
  const isOpen = state === 'waiting' || state === 'failed';
  return isOpen && (expiresAt === null || expiresAt > Date.now());
}

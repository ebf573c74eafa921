import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type MailComposer, MailComposers, type MailText } from '../mail/mail-composers.js';
import type { Mail } from '../mail/mail.entity.js';
import { UsersRepository } from '../users/users.repository.js';
import { CodeMailLimit } from '../auth/email-codes/code-mail-limit.js';
import { readable } from '../auth/email-codes/email-code-text.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';

export type MailedCode = Pick<Mail, 'codeId' | 'codeNumber'>;

type ProofKind = 'email_verification' | 'email_change';

@Injectable()
export class CodeMails implements OnModuleInit {
  constructor(
    private readonly users: UsersRepository,
    private readonly codes: EmailCodes,
    private readonly limit: CodeMailLimit,
    private readonly composers: MailComposers,
  ) {}

  onModuleInit(): void {
    for (const kind of ['email_verification', 'email_change'] as const) {
      const composer: MailComposer = { compose: (mail) => this.compose(kind, mail) };
      this.composers.register(kind, composer);
    }
  }

  /** Returns undefined if the code is void. */
  async textOf(
    purpose: ProofKind | 'password_reset',
    { codeId, codeNumber }: MailedCode,
  ): Promise<MailText | undefined> {
    if (codeId === null || codeNumber === null) return undefined;
    const code = { id: codeId, purpose, codeNumber };
    if (!(await this.codes.isCurrent(code))) return undefined;
    return { template: purpose, code: readable(this.codes.textOf(code)) };
  }

  private async compose(kind: ProofKind, mail: Mail): Promise<MailText | undefined> {
    const { recipient, senderId } = mail;
    if (await this.limit.isBeyond(mail, { kind, recipient, senderId })) return undefined;
    const isTaken = kind === 'email_change' && (await this.users.findByEmail(recipient)) !== null;
    return isTaken ? { template: 'email_taken' } : this.textOf(kind, mail);
  }
}

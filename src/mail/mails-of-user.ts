import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../database/transactions/transaction.js';
import { type DeletedUser, type ExportedRows, UserParts, type UserRows } from '../users/user-parts.js';
import type { UserProfile } from '../users/users.repository.js';
import { MAIL_STATES } from './mail.entity.js';
import { MailsRepository } from './mails.repository.js';

/** more than the limits of a week allow */
const MAX_MAILS = 1000;

@Injectable()
export class MailsOfUser implements UserRows, ExportedRows, OnModuleInit {
  readonly tables = ['mails'];

  constructor(
    private readonly mails: MailsRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('mails', this);
    this.parts.exported.register('mails', this);
  }

  /** Deletes the addresses of clients alone: emails count towards limits until they are a week old. */
  delete(transaction: Transaction, { email }: DeletedUser): Promise<void> {
    return this.mails.deleteAddressesOf(transaction, email);
  }

  /** Only those since the account exists, and none before the email is verified: the others may be for another person. */
  async *of({ email, createdAt: since, emailVerifiedAt }: UserProfile): AsyncGenerator<object> {
    if (emailVerifiedAt === null) return;
    for (const mail of await this.mails.findLatest({ states: MAIL_STATES, recipient: email }, MAX_MAILS)) {
      const { id, kind, state, createdAt, endedAt } = mail;
      if (createdAt < since) continue;
      yield {
        id,
        kind,
        state,
        createdAt: new Date(createdAt).toISOString(),
        endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
      };
    }
  }
}

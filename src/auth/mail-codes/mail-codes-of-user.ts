import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import { type DeletedUser, UserParts, type UserRows } from '../../users/user-parts.js';
import { MailCodesRepository } from './mail-codes.repository.js';

/** Exports nothing: a code lives for 15 minutes, and its row holds nothing else. */
@Injectable()
export class MailCodesOfUser implements UserRows, OnModuleInit {
  readonly tables = ['mail_codes'];

  constructor(
    private readonly codes: MailCodesRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('mail codes', this);
  }

  delete(transaction: Transaction, user: DeletedUser): Promise<void> {
    return this.codes.voidAll(transaction, user);
  }
}

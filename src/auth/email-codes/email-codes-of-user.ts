import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import { type DeletedUser, UserParts, type UserRows } from '../../users/user-parts.js';
import { EmailCodesRepository } from './email-codes.repository.js';

/** Exports nothing: a code lives for 15 minutes, and its row holds nothing else. */
@Injectable()
export class EmailCodesOfUser implements UserRows, OnModuleInit {
  readonly tables = ['email_codes'];

  constructor(
    private readonly codes: EmailCodesRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('email codes', this);
  }

  delete(transaction: Transaction, user: DeletedUser): Promise<void> {
    return this.codes.voidAll(transaction, user);
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import { type EmailCopies, UserParts } from '../../users/user-parts.js';
import { MembersRepository } from './members.repository.js';

/** Keeps the email in the rows of members that of the user. Deletions remove these rows in `OrgsOfUser`. */
@Injectable()
export class MemberEmails implements EmailCopies, OnModuleInit {
  readonly tables = ['members'];

  constructor(
    private readonly members: MembersRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.emailCopies.register('members', this);
  }

  update(transaction: Transaction, userId: string, email: string): Promise<void> {
    return this.members.updateEmail(transaction, userId, email);
  }
}

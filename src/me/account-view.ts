import { Injectable } from '@nestjs/common';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { AccountRepository } from '../users/account.repository.js';
import type { AccountResult } from './me.responses.js';

@Injectable()
export class AccountView {
  constructor(private readonly accounts: AccountRepository) {}

  async of(userId: string): Promise<AccountResult> {
    const account = await this.accounts.findById(userId);
    if (!account) throw new InvalidTokenError('user_gone');
    const { id, email, emailVerifiedAt, createdAt, passwordChangedAt } = account;
    return {
      user: { id, email },
      emailVerified: emailVerifiedAt !== null,
      createdAt: new Date(createdAt).toISOString(),
      passwordChangedAt: passwordChangedAt === null ? null : new Date(passwordChangedAt).toISOString(),
    };
  }
}

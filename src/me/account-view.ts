import { Injectable } from '@nestjs/common';
import { InvalidTokenError } from '../auth/tokens/tokens.errors.js';
import { UsersRepository } from '../users/users.repository.js';
import type { AccountResult } from './me.responses.js';

@Injectable()
export class AccountView {
  constructor(private readonly users: UsersRepository) {}

  async of(userId: string): Promise<AccountResult> {
    const user = await this.users.findById(userId);
    if (!user) throw new InvalidTokenError('user_gone');
    const { id, email, emailVerifiedAt, createdAt, passwordChangedAt } = user;
    return {
      user: { id, email },
      emailVerified: emailVerifiedAt !== null,
      createdAt: new Date(createdAt).toISOString(),
      passwordChangedAt: passwordChangedAt === null ? null : new Date(passwordChangedAt).toISOString(),
    };
  }
}

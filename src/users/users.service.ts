import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/transactions/transaction.js';
import { newEntityId } from '../identifiers/entity-id.js';
import type { User } from './user.entity.js';
import { type Credentials, type NewUser, UsersRepository } from './users.repository.js';

export type CreatedUser = NewUser & Pick<User, 'revision' | 'authEpoch'>;

@Injectable()
export class UsersService {
  constructor(private readonly users: UsersRepository) {}

  async create(transaction: Transaction, email: string, passwordHash: string): Promise<CreatedUser> {
    const user = { id: newEntityId(), email, passwordHash, createdAt: Date.now() };
    await this.users.insert(transaction, user);
    return { ...user, revision: 1, authEpoch: 0 };
  }

  findCredentials(email: string): Promise<Credentials | undefined> {
    return this.users.findCredentials(email);
  }

  rehashPassword({ id, passwordHash }: Credentials, replacement: string): Promise<void> {
    return this.users.rehashPassword(id, passwordHash, replacement);
  }
}

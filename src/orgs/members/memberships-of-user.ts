import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { type EmailCopies, type ExportedRows, UserParts } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { OwnershipRepository } from '../ownership.repository.js';
import { MembersRepository } from './members.repository.js';

/** Keeps the e-mail in memberships that of the user, and exports them. Deletions end them in `OrgsOfUser`. */
@Injectable()
export class MembershipsOfUser implements EmailCopies, ExportedRows, OnModuleInit {
  readonly tables = ['members'];

  constructor(
    private readonly members: MembersRepository,
    private readonly ownership: OwnershipRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.emailCopies.register('memberships', this);
    this.parts.exported.register('organizations', this);
  }

  update(transaction: Transaction, userId: string, email: string): Promise<void> {
    return this.members.updateEmail(transaction, userId, email);
  }

  async *of(user: UserProfile): AsyncGenerator<object> {
    for (const { joinedAt, deletedAt, ...org } of await this.ownership.findOrgsOf(user.id)) {
      const deletion = deletedAt === null ? {} : { deletedAt: new Date(deletedAt).toISOString() };
      yield { ...org, joinedAt: new Date(joinedAt).toISOString(), ...deletion };
    }
  }
}

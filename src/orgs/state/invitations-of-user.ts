import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import { type DeletedUser, type ExportedRows, UserParts, type UserRows } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { InvitationLists, statusAt } from './invitations.lists.js';
import { InvitationsRepository } from './invitations.repository.js';

/** Treats invitations as the user's only if the email is verified: it may be another person's until then. */
@Injectable()
export class InvitationsOfUser implements UserRows, ExportedRows, OnModuleInit {
  readonly tables = ['invitations'];

  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly lists: InvitationLists,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('invitations', this);
    this.parts.exported.register('invitations', this);
  }

  /** Leaves pending ones, which are for the owner of the mailbox. */
  async delete(transaction: Transaction, { email, emailVerifiedAt }: DeletedUser): Promise<void> {
    if (emailVerifiedAt !== null) await this.invitations.deleteEndedOf(transaction, email);
  }

  async *of({ email, emailVerifiedAt }: UserProfile): AsyncGenerator<object> {
    if (emailVerifiedAt === null) return;
    const now = Date.now();
    for (const invitation of await this.lists.findForExport(email)) {
      const { id, role, createdAt, expiresAt, orgId, orgName } = invitation;
      yield {
        id,
        org: { id: orgId, name: orgName },
        role,
        status: statusAt(invitation, now),
        createdAt: new Date(createdAt).toISOString(),
        expiresAt: new Date(expiresAt).toISOString(),
      };
    }
  }
}

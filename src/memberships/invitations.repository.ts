import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Not, type Repository } from 'typeorm';
import type { Transaction } from '../database/transaction.js';
import type { Role } from '../access/role.js';
import { Invitation } from './invitation.entity.js';

/** The caller holds the lock on the organization wherever one changes. */
@Injectable()
export class InvitationsRepository {
  constructor(@InjectRepository(Invitation) private readonly invitations: Repository<Invitation>) {}

  /** The pending ones of an organization that is deleted. */
  async revokeAll(transaction: Transaction, orgId: string): Promise<void> {
    await transaction
      .of(this.invitations)
      .update({ orgId, pending: 1 }, { status: 'revoked', pending: null, endedAt: Date.now() });
  }

  /** The pending ones of somebody who may invite only to these roles from now on. */
  async revokeOfInviter(
    transaction: Transaction,
    orgId: string,
    userId: string,
    allowedRoles: readonly Exclude<Role, 'owner'>[],
  ): Promise<void> {
    await transaction
      .of(this.invitations)
      .update(
        { orgId, invitedBy: userId, pending: 1, role: Not(In([...allowedRoles])) },
        { status: 'revoked', pending: null, endedAt: Date.now() },
      );
  }
}

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/database-errors.js';
import { inBatches } from '../../database/in-batches.js';
import { places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import {
  Invitation,
  INVITED_ROLES,
  type InvitationStatus,
  type InvitedRole,
  PENDING_INVITATION_KEY,
} from './invitation.entity.js';
import { AlreadyInvitedError } from './invitations.errors.js';

export type EndedInvitation = Pick<Invitation, 'id' | 'role'>;

export type NewInvitation = Pick<
  Invitation,
  'id' | 'orgId' | 'email' | 'role' | 'codeShown' | 'invitedBy' | 'createdAt' | 'expiresAt'
>;

export type Renewal = Pick<Invitation, 'codeShown' | 'invitedBy' | 'expiresAt'>;

/** attempts per code; after that the invitation must be resent */
export const MAX_CODE_TRIES = 50;

/** Callers that change an invitation hold the organization's lock; tries and the clean-up need none. */
@Injectable()
export class InvitationsRepository {
  constructor(
    @InjectRepository(Invitation) private readonly invitations: Repository<Invitation>,
    private readonly transactions: Transactions,
  ) {}

  async insert(transaction: Transaction, invitation: NewInvitation): Promise<void> {
    const { id, orgId, email, role, codeShown, invitedBy, createdAt, expiresAt } = invitation;
    // Measured hot: TypeORM takes longer to build this statement than the database to run it.
    await this.requireOnlyOne(
      transaction.write(
        `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
           created_at, expires_at) VALUES (?, ?, ?, ?, 'pending', 1, 1, ?, ?, ?, ?)`,
        [id, orgId, email, role, codeShown, invitedBy, createdAt, expiresAt],
      ),
    );
  }

  async renew(
    transaction: Transaction,
    id: string,
    { codeShown, invitedBy, expiresAt }: Renewal,
  ): Promise<boolean> {
    const renewed = await this.requireOnlyOne(
      transaction.write(
        `UPDATE invitations SET status = 'pending', pending = 1, code_number = code_number + 1, tries = 0,
           code_shown = ?, invited_by = ?, expires_at = ?, ended_at = NULL WHERE id = ?`,
        [codeShown, invitedBy, expiresAt, id],
      ),
    );
    return renewed === 1;
  }

  async end(
    transaction: Transaction,
    id: string,
    status: Exclude<InvitationStatus, 'pending'>,
  ): Promise<boolean> {
    const ended = await transaction.write(
      'UPDATE invitations SET status = ?, pending = NULL, ended_at = ? WHERE id = ? AND pending = 1',
      [status, Date.now(), id],
    );
    return ended === 1;
  }

  async revoke(transaction: Transaction, id: string): Promise<boolean> {
    const revoked = await transaction.write(
      `UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = ?
        WHERE id = ? AND status IN ('pending', 'expired')`,
      [Date.now(), id],
    );
    return revoked === 1;
  }

  endExpired(transaction: Transaction, orgId: string, now: number): Promise<number> {
    return transaction.write(
      `UPDATE invitations SET status = 'expired', pending = NULL, ended_at = expires_at
        WHERE org_id = ? AND status = 'pending' AND expires_at <= ?`,
      [orgId, now],
    );
  }

  revokeAll(transaction: Transaction, orgId: string): Promise<EndedInvitation[]> {
    return this.revokeWhere(transaction, "org_id = ? AND status = 'pending'", [orgId]);
  }

  /** Revokes pending invitations of a member to all roles but the allowed ones. */
  async revokeOfInviter(
    transaction: Transaction,
    orgId: string,
    userId: string,
    allowedRoles: readonly InvitedRole[],
  ): Promise<EndedInvitation[]> {
    const lost = INVITED_ROLES.filter((role) => !allowedRoles.includes(role));
    if (lost.length === 0) return [];
    return this.revokeWhere(
      transaction,
      `org_id = ? AND invited_by = ? AND pending = 1 AND role IN (${places(lost.length)})`,
      [orgId, userId, ...lost],
    );
  }

  revokeOfEmail(transaction: Transaction, orgId: string, email: string): Promise<EndedInvitation[]> {
    return this.revokeWhere(transaction, 'org_id = ? AND email = ? AND pending = 1', [orgId, email]);
  }

  /** Counts before the code is compared, so that simultaneous ones cannot exceed the limit. False at the limit. */
  async countTry(id: string): Promise<boolean> {
    const counted = await this.transactions.write(
      'UPDATE invitations SET tries = tries + 1 WHERE id = ? AND tries < ?',
      [id, MAX_CODE_TRIES],
    );
    return counted === 1;
  }

  /** A code does not say which invitation it is of, so it counts for each. Returns how many were below the limit. */
  countTries(transaction: Transaction, ids: readonly string[]): Promise<number> {
    return transaction.write(
      `UPDATE invitations SET tries = tries + 1 WHERE id IN (${places(ids.length)}) AND tries < ?`,
      [...ids, MAX_CODE_TRIES],
    );
  }

  async deleteEndedOf(transaction: Transaction, email: string): Promise<void> {
    await transaction.of(this.invitations).delete({ email, pending: IsNull() });
  }

  private async revokeWhere(
    transaction: Transaction,
    condition: string,
    values: unknown[],
  ): Promise<EndedInvitation[]> {
    const found = await transaction.read<EndedInvitation>(
      `SELECT id, role FROM invitations WHERE ${condition} ORDER BY id${transaction.forUpdate}`,
      values,
    );
    for await (const batch of inBatches(found.map(({ id }) => id))) {
      await transaction.write(
        `UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = ?
          WHERE id IN (${places(batch.length)})`,
        [Date.now(), ...batch],
      );
    }
    return found;
  }

  private async requireOnlyOne(write: Promise<number>): Promise<number> {
    try {
      return await write;
    } catch (error) {
      throw isUniqueViolation(error, PENDING_INVITATION_KEY) ? new AlreadyInvitedError() : error;
    }
  }
}

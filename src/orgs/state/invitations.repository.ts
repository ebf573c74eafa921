import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { MAX_CODE_TRIES } from '../../auth/email-codes/email-codes.js';
import { isUniqueViolation } from '../../database/transactions/database-errors.js';
import type { Role } from '../../access/principal.js';
import { inBatches, placeholders } from '../../database/statements.js';
import { type Transaction, Transactions } from '../../database/transactions/transactions.js';
import { IS_INVITER_SUSPENDED } from './invitations.lists.js';
import { Invitation, type InvitationStatus, PENDING_INVITATION_KEY } from './org.entity.js';
import type { OrgFacts } from './orgs.repository.js';
import { Problem } from '../../problems/problem.js';

export type EndedInvitation = Pick<Invitation, 'id' | 'role'>;

const MAX_PENDING = 1000;

export interface InvitingFacts {
  actorRole: Role | null;
  actorEmail: string | null;
  actorDisabledAt: number | null;
  targetRole: Role | null;
  pendingId: string | null;
  pendingUntil: number | null;
  hasRoom: 0 | 1;
}

type InvitationRow = Omit<Invitation, 'pending' | 'endedAt'>;

export type SentInvitation = Omit<InvitationRow, 'tries'>;

export type RenewingFacts = InvitingFacts & InvitationRow;

/** The other facts mean nothing if the organization has no such invitation. */
export type Found<Facts extends InvitationRow> = Facts | { id: null };

export interface AnsweringFacts extends InvitationRow {
  orgName: string;
  orgDeletedAt: number | null;
  inviterRole: Role | null;
  inviterDisabledAt: number | null;
  isInviterSuspended: 0 | 1;
  userEmail: string | null;
  userVerifiedAt: number | null;
  userRole: Role | null;
}

const ROW = {
  id: 'e.id',
  orgId: 'e.org_id',
  email: 'e.email',
  role: 'e.role',
  status: 'e.status',
  codeNumber: 'e.code_number',
  codeShown: 'e.code_shown',
  tries: 'e.tries',
  invitedBy: 'e.invited_by',
  createdAt: 'e.created_at',
  expiresAt: 'e.expires_at',
};

const INVITING: OrgFacts<InvitingFacts>['columns'] = {
  actorRole: 'a.role',
  actorEmail: 'c.email',
  actorDisabledAt: 'c.disabled_at',
  targetRole: 't.role',
  pendingId: 'i.id',
  pendingUntil: 'i.expires_at',
  hasRoom: `(SELECT x.id FROM invitations x WHERE x.org_id = o.id AND x.status = 'pending'
    LIMIT 1 OFFSET ${MAX_PENDING - 1}) IS NULL`,
};

/** Takes SQL. */
const invitedOf = (email: string): string => `LEFT JOIN users u ON u.email = ${email}
  LEFT JOIN members t ON t.org_id = o.id AND t.user_id = u.id
  LEFT JOIN invitations i ON i.org_id = o.id AND i.email = ${email} AND i.pending = 1`;

const IN_ORG = 'LEFT JOIN invitations e ON e.id = ? AND e.org_id = o.id';

export function invitingOf(email: string): OrgFacts<InvitingFacts> {
  return { columns: INVITING, joins: invitedOf('?'), values: [email, email] };
}

export function renewingOf(id: string): OrgFacts<Found<RenewingFacts>> {
  return { columns: { ...ROW, ...INVITING }, joins: `${IN_ORG} ${invitedOf('e.email')}`, values: [id] };
}

const ANSWERING: OrgFacts<AnsweringFacts>['columns'] = {
  ...ROW,
  orgName: 'o.name',
  orgDeletedAt: 'o.deleted_at',
  inviterRole: 'w.role',
  inviterDisabledAt: 'v.disabled_at',
  isInviterSuspended: IS_INVITER_SUSPENDED,
  userEmail: 'u.email',
  userVerifiedAt: 'u.email_verified_at',
  userRole: 'm.role',
};

const ANSWERED = `${IN_ORG}
  LEFT JOIN members w ON w.org_id = o.id AND w.user_id = e.invited_by
  LEFT JOIN users v ON v.id = e.invited_by
  LEFT JOIN users u ON u.id = ? LEFT JOIN members m ON m.org_id = o.id AND m.user_id = u.id`;

/** @param userId the user who answers; empty if there is no account yet */
export function answeringOf(id: string, userId: string): OrgFacts<Found<AnsweringFacts>> {
  return { columns: ANSWERING, joins: ANSWERED, values: [id, userId] };
}

/** The caller holds the organization's lock, except for tries and the clean-up. */
@Injectable()
export class InvitationsRepository {
  constructor(
    @InjectRepository(Invitation) private readonly invitations: Repository<Invitation>,
    private readonly transactions: Transactions,
  ) {}

  async findOrgOfReceived(id: string, userId: string): Promise<string | undefined> {
    const sql =
      'SELECT e.org_id AS orgId FROM users u JOIN invitations e ON e.email = u.email WHERE u.id = ? AND e.id = ?';
    return (await this.invitations.query<{ orgId: string }[]>(sql, [userId, id]))[0]?.orgId;
  }

  async insert(tx: Transaction, invitation: SentInvitation): Promise<void> {
    const { id, orgId, email, role, codeShown, invitedBy, createdAt, expiresAt } = invitation;
    // Hot: TypeORM takes longer to build this statement than the database to run it.
    const sql = `INSERT INTO invitations (id, org_id, email, role, status, pending, code_number, code_shown, invited_by,
        created_at, expires_at) VALUES (?, ?, ?, ?, 'pending', 1, 1, ?, ?, ?, ?)`;
    const values = [id, orgId, email, role, codeShown, invitedBy, createdAt, expiresAt];
    await this.requireOnlyOne(tx.write(sql, values));
  }

  async renew(
    tx: Transaction,
    id: string,
    { codeShown, invitedBy, expiresAt }: Pick<Invitation, 'codeShown' | 'invitedBy' | 'expiresAt'>,
  ): Promise<void> {
    const sql = `UPDATE invitations SET status = 'pending', pending = 1, code_number = code_number + 1, tries = 0,
        code_shown = ?, invited_by = ?, expires_at = ?, ended_at = NULL WHERE id = ?`;
    await this.requireOnlyOne(tx.write(sql, [codeShown, invitedBy, expiresAt, id]));
  }

  async end(tx: Transaction, id: string, status: Exclude<InvitationStatus, 'pending'>): Promise<boolean> {
    const sql =
      'UPDATE invitations SET status = ?, pending = NULL, ended_at = ? WHERE id = ? AND pending = 1';
    return (await tx.write(sql, [status, Date.now(), id])) === 1;
  }

  async revoke(tx: Transaction, id: string): Promise<void> {
    await tx.write(
      `UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = ?
        WHERE id = ? AND status IN ('pending', 'expired')`,
      [Date.now(), id],
    );
  }

  endExpired(tx: Transaction, orgId: string, now: number): Promise<number> {
    return tx.write(
      `UPDATE invitations SET status = 'expired', pending = NULL, ended_at = expires_at
        WHERE org_id = ? AND status = 'pending' AND expires_at <= ?`,
      [orgId, now],
    );
  }

  revokeAll(tx: Transaction, orgId: string): Promise<EndedInvitation[]> {
    return this.revokeWhere(tx, "org_id = ? AND status = 'pending'", [orgId]);
  }

  revokeOfInviter(tx: Transaction, orgId: string, userId: string): Promise<EndedInvitation[]> {
    return this.revokeWhere(tx, 'org_id = ? AND invited_by = ? AND pending = 1', [orgId, userId]);
  }

  revokeOfEmail(tx: Transaction, orgId: string, email: string): Promise<EndedInvitation[]> {
    return this.revokeWhere(tx, 'org_id = ? AND email = ? AND pending = 1', [orgId, email]);
  }

  /** Call it before the comparison, so that concurrent tries cannot exceed the limit. Returns false at the limit. */
  async countTry(id: string): Promise<boolean> {
    const sql = 'UPDATE invitations SET tries = tries + 1 WHERE id = ? AND tries < ?';
    return (await this.transactions.write(sql, [id, MAX_CODE_TRIES])) === 1;
  }

  countTries(tx: Transaction, ids: readonly string[]): Promise<number> {
    const sql = `UPDATE invitations SET tries = tries + 1 WHERE id IN (${placeholders(ids.length)}) AND tries < ?`;
    return tx.write(sql, [...ids, MAX_CODE_TRIES]);
  }

  async deleteOfOrg(tx: Transaction, orgId: string, limit: number): Promise<number> {
    const find = 'SELECT id FROM invitations WHERE org_id = ? LIMIT ?';
    const found = await tx.read<{ id: string }>(find, [orgId, limit]);
    if (found.length === 0) return 0;
    const ids = found.map(({ id }) => id);
    return tx.write(`DELETE FROM invitations WHERE id IN (${placeholders(ids.length)})`, ids);
  }

  async deleteEndedOf(tx: Transaction, email: string): Promise<void> {
    await tx.of(this.invitations).delete({ email, pending: IsNull() });
  }

  private async revokeWhere(
    tx: Transaction,
    condition: string,
    values: unknown[],
  ): Promise<EndedInvitation[]> {
    const sql = `SELECT id, role FROM invitations WHERE ${condition} ORDER BY id${tx.forUpdate}`;
    const found = await tx.read<EndedInvitation>(sql, values);
    for await (const batch of inBatches(found.map(({ id }) => id))) {
      await tx.write(
        `UPDATE invitations SET status = 'revoked', pending = NULL, ended_at = ?
          WHERE id IN (${placeholders(batch.length)})`,
        [Date.now(), ...batch],
      );
    }
    return found;
  }

  private async requireOnlyOne(write: Promise<number>): Promise<void> {
    try {
      await write;
    } catch (error) {
      throw isUniqueViolation(error, PENDING_INVITATION_KEY) ? new Problem('already_invited') : error;
    }
  }
}

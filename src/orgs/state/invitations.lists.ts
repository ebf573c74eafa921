import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, LessThanOrEqual, MoreThan, type Repository } from 'typeorm';
import { BATCH, type Batch, deleteFound } from '../../database/statements.js';
import { Invitation, INVITATION_STATUSES, type InvitationStatus } from './org.entity.js';
import { IS_FACTOR_REQUIRED } from './orgs.repository.js';

export interface ListedInvitation extends Pick<
  Invitation,
  'id' | 'email' | 'role' | 'status' | 'createdAt' | 'expiresAt' | 'invitedBy'
> {
  inviterEmail: string | null;
}

export type ReceivedInvitation = ListedInvitation & {
  orgId: string;
  orgName: string;
  inviterName: string | null;
};

export type CandidateInvitation = Pick<Invitation, 'id' | 'orgId' | 'codeNumber'>;

export interface MailedInvitation extends Pick<Invitation, 'role' | 'expiresAt'> {
  orgName: string;
  inviterEmail: string;
  inviterName: string | null;
  inviterVerifiedAt: number | null;
}

export interface InvitationRange {
  now: number;
  limit: number;
  beforeId: string | undefined;
}

const AFTER_ALL = 'g';

// Bounds the cost of a code, which names no organization, even if the email has many invitations.
const MAX_LOOKED_AT = 20_000;
const MAX_CANDIDATES = 2000;

const MAX_EXPORTED = 1000;

export const ENDED_RETENTION_MS = 30 * 86_400_000;

/** Whether `o` suspends the inviter `v`. Until that ends, nobody can answer the invitation. */
export const IS_INVITER_SUSPENDED = `(${IS_FACTOR_REQUIRED} AND v.second_factor_at IS NULL)`;

const LISTED = `i.id, i.email, i.role, i.status, i.created_at AS createdAt, i.expires_at AS expiresAt,
  i.invited_by AS invitedBy, v.email AS inviterEmail`;

const ORG_AND_INVITER = 'o.id AS orgId, o.name AS orgName, v.name AS inviterName';

const RECEIVED = `SELECT ${LISTED}, ${ORG_AND_INVITER}
  FROM invitations i JOIN orgs o ON o.id = i.org_id LEFT JOIN users v ON v.id = i.invited_by`;

const findOfOrg = (and = ''): string => `SELECT ${LISTED}
  FROM invitations i LEFT JOIN users v ON v.id = i.invited_by
  WHERE i.org_id = ? AND i.status = ? AND i.id < ? ${and} ORDER BY i.id DESC LIMIT ?`;
const FIND_OF_ORG = findOfOrg();

@Injectable()
export class InvitationListsRepository {
  constructor(@InjectRepository(Invitation) private readonly invitations: Repository<Invitation>) {}

  async findOfOrg(
    orgId: string,
    status: InvitationStatus | undefined,
    page: InvitationRange,
  ): Promise<ListedInvitation[]> {
    const parts = partsOf(orgId, status, page);
    // One statement has one snapshot, so an invitation that ends meanwhile is in exactly one part.
    const sql = parts.map((part) => `SELECT * FROM (${part.sql}) part`).join(' UNION ALL ');
    const values = parts.flatMap((part) => part.values);
    const found = await this.invitations.query<ListedInvitation[]>(sql, values);
    const inOrder = found.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    return inOrder.slice(0, page.limit).map((one) => Object.assign(one, { status: statusAt(one, page.now) }));
  }

  findReceived(userId: string, page: InvitationRange): Promise<ReceivedInvitation[]> {
    const { now, limit, beforeId = AFTER_ALL } = page;
    const sql = `SELECT ${LISTED}, ${ORG_AND_INVITER}
      FROM users u JOIN invitations i ON i.email = u.email AND i.pending = 1 AND i.id < ?
        JOIN orgs o ON o.id = i.org_id AND o.deleted_at IS NULL LEFT JOIN users v ON v.id = i.invited_by
      WHERE u.id = ? AND u.email_verified_at IS NOT NULL AND i.expires_at > ? AND NOT ${IS_INVITER_SUSPENDED}
      ORDER BY i.id DESC LIMIT ?`;
    return this.invitations.query<ReceivedInvitation[]>(sql, [beforeId, userId, now, limit]);
  }

  async findMailed(id: string, codeNumber: number, now: number): Promise<MailedInvitation | undefined> {
    const sql = `SELECT i.role, i.expires_at AS expiresAt, o.name AS orgName, v.email AS inviterEmail,
        v.name AS inviterName, v.email_verified_at AS inviterVerifiedAt
      FROM invitations i JOIN orgs o ON o.id = i.org_id AND o.deleted_at IS NULL
        JOIN users v ON v.id = i.invited_by AND v.disabled_at IS NULL
        JOIN members w ON w.org_id = i.org_id AND w.user_id = i.invited_by AND w.role IN ('admin', 'owner')
      WHERE i.id = ? AND i.code_number = ? AND i.code_shown = 0 AND i.pending = 1 AND i.expires_at > ?
        AND NOT ${IS_INVITER_SUSPENDED}`;
    return (await this.invitations.query<MailedInvitation[]>(sql, [id, codeNumber, now]))[0];
  }

  /** Emailed invitations come first, then the inviters in turn, so that one inviter cannot crowd out another. */
  findCandidates(email: string, now: number): Promise<CandidateInvitation[]> {
    // COALESCE keeps SQLite from the index of times, which would read the invitations of every email.
    const sql = `SELECT id, orgId, codeNumber FROM (
        SELECT p.*, ROW_NUMBER() OVER (PARTITION BY p.invitedBy ORDER BY p.id DESC) AS turn FROM (
          SELECT i.id, i.org_id AS orgId, i.code_number AS codeNumber, i.code_shown AS codeShown,
              i.invited_by AS invitedBy
            FROM invitations i WHERE i.email = ? AND i.pending = 1 AND COALESCE(i.expires_at, 0) > ?
            ORDER BY i.id DESC LIMIT ${MAX_LOOKED_AT}) p) candidates
      ORDER BY codeShown, turn, id DESC LIMIT ${MAX_CANDIDATES}`;
    return this.invitations.query<CandidateInvitation[]>(sql, [email, now]);
  }

  async findAll(ids: readonly string[]): Promise<Invitation[]> {
    return ids.length === 0 ? [] : this.invitations.findBy({ id: In(ids) });
  }

  findForExport(email: string): Promise<ReceivedInvitation[]> {
    return this.invitations.query<ReceivedInvitation[]>(
      `${RECEIVED} WHERE i.email = ? ORDER BY i.id LIMIT ${MAX_EXPORTED}`,
      [email],
    );
  }

  findPending(email: string, now: number): Promise<ReceivedInvitation[]> {
    return this.invitations.query<ReceivedInvitation[]>(
      `${RECEIVED} WHERE i.email = ? AND i.pending = 1 AND i.expires_at > ? AND o.deleted_at IS NULL
          AND NOT ${IS_INVITER_SUSPENDED}
        ORDER BY i.id LIMIT ${MAX_EXPORTED}`,
      [email, now],
    );
  }

  countPending(email: string, now: number): Promise<number> {
    return this.invitations.countBy({ email, pending: 1, expiresAt: MoreThan(now) });
  }

  /** Leaves out invitations that got a new code since the read. */
  async markExpired(now: number): Promise<Batch> {
    const sql =
      'SELECT id FROM invitations WHERE pending = 1 AND expires_at <= ? ORDER BY expires_at LIMIT ?';
    const found = await this.invitations.query<{ id: string }[]>(sql, [now, BATCH]);
    if (found.length > 0) {
      const ids = In(found.map(({ id }) => id));
      await this.invitations.update(
        { id: ids, pending: 1, expiresAt: LessThanOrEqual(now) },
        { status: 'expired', pending: null, endedAt: () => 'expires_at' },
      );
    }
    return { examined: found.length, deleted: 0 };
  }

  async deleteOld(now: number): Promise<Batch> {
    const sql =
      'SELECT id FROM invitations WHERE pending IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?';
    const found = await this.invitations.query<{ id: string }[]>(sql, [now - ENDED_RETENTION_MS, BATCH]);
    return deleteFound(found, async () => {
      await this.invitations.delete({ id: In(found.map(({ id }) => id)), pending: IsNull() });
    });
  }
}

function partsOf(
  orgId: string,
  status: InvitationStatus | undefined,
  { now, limit, beforeId = AFTER_ALL }: InvitationRange,
): { sql: string; values: unknown[] }[] {
  const part = (sql: string, stored: InvitationStatus, ...more: number[]) => ({
    sql,
    values: [orgId, stored, beforeId, ...more, limit],
  });
  if (status === 'pending') return [part(findOfOrg('AND i.expires_at > ?'), status, now)];
  if (status === 'expired') {
    return [part(FIND_OF_ORG, status), part(findOfOrg('AND i.expires_at <= ?'), 'pending', now)];
  }
  return (status === undefined ? INVITATION_STATUSES : [status]).map((one) => part(FIND_OF_ORG, one));
}

export function statusAt(stored: Pick<Invitation, 'status' | 'expiresAt'>, now: number): InvitationStatus {
  const { status, expiresAt } = stored;
  return status === 'pending' && expiresAt <= now ? 'expired' : status;
}

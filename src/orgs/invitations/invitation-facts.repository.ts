import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../../access/role.js';
import { byColumns, keyTable, Lookup, lookupStatement } from '../../database/lookup.js';
import { Invitation } from './invitation.entity.js';

/** limit of pending invitations for one organization */
const MAX_PENDING = 1000;

/** Facts that decide whether somebody may invite an email, at one revision of the organization; null: none. */
export interface InvitingFacts {
  revision: number;
  actorRole: Role | null;
  actorEmail: string | null;
  actorDisabledAt: number | null;
  /** role of the user who has the email */
  targetRole: Role | null;
  pendingId: string | null;
  pendingUntil: number | null;
  /** whether fewer are pending than the limit; expired invitations count until they are marked */
  hasRoom: 0 | 1;
}

type InvitationRow = Pick<
  Invitation,
  | 'id'
  | 'orgId'
  | 'email'
  | 'role'
  | 'status'
  | 'codeNumber'
  | 'codeShown'
  | 'tries'
  | 'invitedBy'
  | 'createdAt'
  | 'expiresAt'
>;

export interface InvitingKey {
  orgId: string;
  actorId: string;
  email: string;
}

export interface RenewingKey {
  orgId: string;
  actorId: string;
  id: string;
}

export interface RenewingFacts extends InvitingFacts, InvitationRow {}

export interface AnsweringKey {
  id: string;
  /** id of the user who answers; empty for somebody who has no account yet */
  userId: string;
}

export interface AnsweringFacts extends InvitationRow {
  revision: number;
  orgName: string;
  orgDeletedAt: number | null;
  inviterRole: Role | null;
  inviterDisabledAt: number | null;
  userEmail: string | null;
  userVerifiedAt: number | null;
  userRole: Role | null;
}

const ROW = `e.id, e.org_id AS orgId, e.email, e.role, e.status, e.code_number AS codeNumber,
  e.code_shown AS codeShown, e.tries, e.invited_by AS invitedBy, e.created_at AS createdAt, e.expires_at AS expiresAt`;

const INVITING = `o.revision, a.role AS actorRole, c.email AS actorEmail, c.disabled_at AS actorDisabledAt,
  t.role AS targetRole, i.id AS pendingId, i.expires_at AS pendingUntil,
  (SELECT x.id FROM invitations x WHERE x.org_id = o.id AND x.status = 'pending' LIMIT 1 OFFSET ${MAX_PENDING - 1})
    IS NULL AS hasRoom`;

/** Both parameters are SQL. */
const inviting = (actor: string, email: string): string => `LEFT JOIN users c ON c.id = ${actor}
  LEFT JOIN members a ON a.org_id = o.id AND a.user_id = c.id
  LEFT JOIN users u ON u.email = ${email} LEFT JOIN members t ON t.org_id = o.id AND t.user_id = u.id
  LEFT JOIN invitations i ON i.org_id = o.id AND i.email = ${email} AND i.pending = 1`;

const FIND_INVITING = lookupStatement<InvitingKey, InvitingKey & InvitingFacts>(
  'what decides about a new invitation',
  {
    sql: (size) => `SELECT o.id AS orgId, k.actor_id AS actorId, k.email, ${INVITING}
      FROM ${keyTable('SELECT id AS org_id, id AS actor_id, email FROM users', 3, size)}
        JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL ${inviting('k.actor_id', 'k.email')}`,
    ...byColumns('orgId', 'actorId', 'email'),
  },
);

const FIND_RENEWING = lookupStatement<RenewingKey, RenewingKey & RenewingFacts>(
  'what decides about a new code of an invitation',
  {
    sql: (size) => `SELECT ${ROW}, k.actor_id AS actorId, ${INVITING}
      FROM ${keyTable('SELECT id AS org_id, id AS actor_id, id FROM orgs', 3, size)}
        JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL
        JOIN invitations e ON e.id = k.id AND e.org_id = o.id ${inviting('k.actor_id', 'e.email')}`,
    ...byColumns('orgId', 'actorId', 'id'),
  },
);

const FIND_ANSWERING = lookupStatement<AnsweringKey, AnsweringKey & AnsweringFacts>(
  'what decides about the answer to an invitation',
  {
    sql: (size) => `SELECT ${ROW}, k.user_id AS userId, o.revision, o.name AS orgName,
        o.deleted_at AS orgDeletedAt, w.role AS inviterRole, v.disabled_at AS inviterDisabledAt,
        u.email AS userEmail, u.email_verified_at AS userVerifiedAt, m.role AS userRole
      FROM ${keyTable('SELECT id, id AS user_id FROM users', 2, size)}
        JOIN invitations e ON e.id = k.id JOIN orgs o ON o.id = e.org_id
        LEFT JOIN members w ON w.org_id = o.id AND w.user_id = e.invited_by
        LEFT JOIN users v ON v.id = e.invited_by
        LEFT JOIN users u ON u.id = k.user_id LEFT JOIN members m ON m.org_id = o.id AND m.user_id = u.id`,
    ...byColumns('id', 'userId'),
  },
);

@Injectable()
export class InvitationFactsRepository {
  readonly inviting: Lookup<InvitingKey, InvitingKey & InvitingFacts>;
  readonly renewing: Lookup<RenewingKey, RenewingKey & RenewingFacts>;
  readonly answering: Lookup<AnsweringKey, AnsweringKey & AnsweringFacts>;

  constructor(@InjectRepository(Invitation) invitations: Repository<Invitation>) {
    this.inviting = new Lookup(FIND_INVITING, invitations);
    this.renewing = new Lookup(FIND_RENEWING, invitations);
    this.answering = new Lookup(FIND_ANSWERING, invitations);
  }
}

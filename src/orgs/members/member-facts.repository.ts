import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Role } from '../../access/role.js';
import { byColumns, keyTable, Lookup, lookupStatement } from '../../database/lookup.js';
import { Member } from './member.entity.js';
import { hasOtherOwner, isInviter } from '../ownership.repository.js';

export interface ChangeKey {
  orgId: string;
  actorId: string;
  targetId: string;
}

/** Facts that decide about a change of a member, at one revision of the organization; null: not a member. */
export interface ChangeFacts {
  revision: number;
  actorRole: Role | null;
  targetRole: Role | null;
  /** whether there is an enabled owner besides the target */
  hasOtherOwner: 0 | 1;
  isTargetDisabled: 0 | 1;
  /** whether invitations by the target are pending */
  isTargetInviter: 0 | 1;
}

export interface AdditionKey {
  orgId: string;
  actorId: string;
  email: string;
}

/** Facts that decide about an addition, at one revision of the organization; null: no member, no such user. */
export interface AdditionFacts {
  revision: number;
  actorRole: Role | null;
  userId: string | null;
  emailVerifiedAt: number | null;
  targetRole: Role | null;
  isInvited: 0 | 1;
}

const FIND_CHANGE = lookupStatement<ChangeKey, ChangeKey & ChangeFacts>('what decides about a change', {
  sql: (size) => `SELECT o.id AS orgId, k.actor_id AS actorId, k.target_id AS targetId, o.revision,
      a.role AS actorRole, t.role AS targetRole, ${hasOtherOwner('o.id', 'k.target_id')} AS hasOtherOwner,
      d.disabled_at IS NOT NULL AS isTargetDisabled,
      ${isInviter('o.id', 't.user_id')} AS isTargetInviter
    FROM ${keyTable('SELECT id AS org_id, id AS actor_id, id AS target_id FROM orgs', 3, size)}
      JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL
      LEFT JOIN members a ON a.org_id = o.id AND a.user_id = k.actor_id
      LEFT JOIN members t ON t.org_id = o.id AND t.user_id = k.target_id
      LEFT JOIN users d ON d.id = t.user_id`,
  ...byColumns('orgId', 'actorId', 'targetId'),
});

const FIND_ADDITION = lookupStatement<AdditionKey, AdditionKey & AdditionFacts>(
  'what decides about an addition',
  {
    sql: (size) => `SELECT o.id AS orgId, k.actor_id AS actorId, k.email, o.revision, a.role AS actorRole,
        u.id AS userId, u.email_verified_at AS emailVerifiedAt, t.role AS targetRole,
        EXISTS (SELECT 1 FROM invitations i WHERE i.org_id = o.id AND i.email = k.email AND i.pending = 1)
          AS isInvited
      FROM ${keyTable('SELECT id AS org_id, id AS actor_id, email FROM users', 3, size)}
        JOIN orgs o ON o.id = k.org_id AND o.deleted_at IS NULL
        LEFT JOIN members a ON a.org_id = o.id AND a.user_id = k.actor_id
        LEFT JOIN users u ON u.email = k.email
        LEFT JOIN members t ON t.org_id = o.id AND t.user_id = u.id`,
    ...byColumns('orgId', 'actorId', 'email'),
  },
);

@Injectable()
export class MemberFactsRepository {
  readonly addition: Lookup<AdditionKey, AdditionKey & AdditionFacts>;
  readonly change: Lookup<ChangeKey, ChangeKey & ChangeFacts>;

  constructor(@InjectRepository(Member) members: Repository<Member>) {
    this.addition = new Lookup(FIND_ADDITION, members);
    this.change = new Lookup(FIND_CHANGE, members);
  }
}

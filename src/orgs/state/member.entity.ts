import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Role } from '../../access/principal.js';
import type { UniqueKey } from '../../database/transactions/database-errors.js';

export const MEMBERS_KEY: UniqueKey = { name: 'PRIMARY', columns: 'members.org_id, members.user_id' };

@Entity('members')
@Index('members_list_idx', ['orgId', 'joinedAt', 'userId', 'role', 'email'])
@Index('members_org_id_role_email_idx', ['orgId', 'role', 'email'])
@Index('members_user_id_joined_at_idx', ['userId', 'joinedAt', 'orgId'])
export class Member {
  @PrimaryColumn({ name: 'org_id', type: 'varchar', length: 36 })
  @ForeignKey('orgs', { name: 'members_org_id_fkey', onDelete: 'CASCADE' })
  orgId: string;

  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'members_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  // Copied from the user, so that one index covers lists. No foreign key: Galera orders writes by the primary keys that
  // foreign keys refer to, and a node that applied this row before its user would leave the cluster.
  @Column({ type: 'varchar', length: 254 })
  email: string;

  @Column({ type: 'varchar', length: 6 })
  role: Role;

  /** epoch milliseconds */
  @Column({ name: 'joined_at', type: 'bigint' })
  joinedAt: number;
}

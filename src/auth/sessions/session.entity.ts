import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/database-errors.js';

/** What makes a code work once, on every engine and on all nodes of a cluster. */
export const SESSIONS_CODE_HASH_KEY: UniqueKey = {
  name: 'sessions_code_hash_key',
  columns: 'sessions.code_hash',
};

/** A login that tokens belong to, or one that was derived from it by a code. Times are epoch milliseconds. */
@Entity('sessions')
@Index('sessions_user_id_idx', ['userId'])
@Index('sessions_parent_id_idx', ['parentId', 'id'])
@Index('sessions_expires_at_id_idx', ['expiresAt', 'id'])
@Index(SESSIONS_CODE_HASH_KEY.name, ['codeHash'], { unique: true })
export class Session {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'sessions_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** when the password was last checked; inherited through authorization codes */
  @Column({ name: 'auth_time', type: 'bigint' })
  authTime: number;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  /** when the last token of this session expires */
  @Column({ name: 'expires_at', type: 'bigint' })
  expiresAt: number;

  @Column({ name: 'revoked_at', type: 'bigint', nullable: true })
  revokedAt: number | null;

  /** since when no session that was derived from this one can be alive */
  @Column({ name: 'descendants_revoked_at', type: 'bigint', nullable: true })
  descendantsRevokedAt: number | null;

  /**
   * The session that issued the code; null for a login. No foreign key: InnoDB limits how deep one cascades
   * within a table, and Galera does not certify rows that a cascade deletes.
   */
  @Column({ name: 'parent_id', type: 'varchar', length: 36, nullable: true })
  parentId: string | null;

  /** the user's when it began */
  @Column({ name: 'auth_epoch', type: 'integer', default: 0 })
  authEpoch: number;

  /** what `authorization_codes.hash` was; null for a login */
  @Column({ name: 'code_hash', type: 'varchar', length: 43, nullable: true })
  codeHash: string | null;
}

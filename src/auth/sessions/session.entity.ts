import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/transactions/database-errors.js';
import type { LoginMethods } from '../tokens/access-token.js';

/** This key lets a code work once, on every engine and across all nodes of a cluster. */
export const SESSIONS_CODE_HASH_KEY: UniqueKey = {
  name: 'sessions_code_hash_key',
  columns: 'sessions.code_hash',
};

// Times are epoch milliseconds. No foreign key leads to another session, because Galera does not certify cascades.
@Entity('sessions')
@Index('sessions_user_id_idx', ['userId'])
@Index('sessions_user_id_alive_idx', ['userId', 'authEpoch', 'revokedAt', 'expiresAt'])
@Index('sessions_login_id_idx', ['loginId', 'id'])
@Index('sessions_branch_id_idx', ['branchId', 'id'])
@Index('sessions_expires_at_id_idx', ['expiresAt', 'id'])
@Index(SESSIONS_CODE_HASH_KEY.name, ['codeHash'], { unique: true })
export class Session {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;

  @Column({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'sessions_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  @Column({ name: 'auth_time', type: 'bigint' }) authTime: number;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'expires_at', type: 'bigint' }) expiresAt: number;
  @Column({ name: 'revoked_at', type: 'bigint', nullable: true }) revokedAt: number | null;
  @Column({ name: 'login_id', type: 'varchar', length: 36, nullable: true }) loginId: string | null;

  /** the first session that a code of the login opened, for that session its own id; null for a login */
  @Column({ name: 'branch_id', type: 'varchar', length: 36, nullable: true }) branchId: string | null;
  @Column({ name: 'auth_epoch', type: 'integer', default: 0 }) authEpoch: number;
  /** the refresh token that was issued last; 0 for sessions without refresh tokens */
  @Column({ name: 'refresh_generation', type: 'integer', default: 0 }) refreshGeneration: number;
  /** how many unused successors of the same previous refresh token were replaced */
  @Column({ type: 'integer', default: 0 }) reissues: number;
  /** the last generation whose tokens were accepted */
  @Column({ name: 'seen_generation', type: 'integer', default: 0 }) seenGeneration: number;
  /** the last issue of a refresh token, or its first use */
  @Column({ name: 'rotated_at', type: 'bigint', nullable: true }) rotatedAt: number | null;
  @Column({ type: 'varchar', length: 45, nullable: true }) ip: string | null;
  @Column({ name: 'user_agent', type: 'varchar', length: 200, nullable: true }) userAgent: string | null;
  @Column({ name: 'device_name', type: 'varchar', length: 60, nullable: true }) deviceName: string | null;

  /** the former `authorization_codes.hash`; null for a login */
  @Column({ name: 'code_hash', type: 'varchar', length: 43, nullable: true }) codeHash: string | null;
  /** a MAC over the service and the idempotency key of the exchange, keyed by the code */
  @Column({ name: 'exchange_key', type: 'varchar', length: 43, nullable: true }) exchangeKey: string | null;
  @Column({ type: 'varchar', length: 40, default: 'pwd' }) amr: LoginMethods;

  /** the service that exchanged the code; a foreign key would lock its row in each exchange */
  @Column({ type: 'varchar', length: 40, nullable: true }) service: string | null;
  /** epoch of the service when it exchanged a code for it alone; null for other codes */
  @Column({ name: 'bound_epoch', type: 'integer', nullable: true }) boundEpoch: number | null;

  /** the name of the provider that confirmed the login */
  @Column({ type: 'varchar', length: 40, nullable: true }) provider: string | null;
  /** when the login and all that its one-time codes open end at the latest, as its provider wants */
  @Column({ name: 'ends_at', type: 'bigint', nullable: true }) endsAt: number | null;
}

/** Until then, a login and what its one-time codes open last at the latest. `maxAge` is in seconds. */
export function endOfLogin(
  { authTime, endsAt }: Pick<Session, 'authTime' | 'endsAt'>,
  maxAge: number,
): number {
  return Math.min(authTime + maxAge * 1000, endsAt ?? Infinity);
}

@Entity('authorization_codes')
@Index('authorization_codes_session_id_created_at_idx', ['sessionId', 'createdAt'])
@Index('authorization_codes_expires_at_idx', ['expiresAt'])
export class AuthorizationCode {
  @PrimaryColumn({ type: 'varchar', length: 43 }) hash: string;

  @Column({ name: 'session_id', type: 'varchar', length: 36 })
  @ForeignKey('sessions', { name: 'authorization_codes_session_id_fkey', onDelete: 'CASCADE' })
  sessionId: string;

  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ name: 'expires_at', type: 'bigint' }) expiresAt: number;
}

export const PENDING_REVOCATIONS_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'pending_revocations.session_id',
};

/** The rest of a family that any instance still has to revoke. */
@Entity('pending_revocations')
export class PendingRevocation {
  @PrimaryColumn({ name: 'session_id', type: 'varchar', length: 36 }) sessionId: string;
  @Column({ name: 'user_id', type: 'varchar', length: 36 }) userId: string;
  @Column({ type: 'bigint' }) since: number;

  @Column({ type: 'varchar', length: 20 })
  reason: 'code_reused' | 'refresh_reused' | 'logout' | 'revoked' | 'too_many';

  @Column({ name: 'actor_id', type: 'varchar', length: 36, nullable: true }) actorId: string | null;

  @Column({ name: 'actor_session_id', type: 'varchar', length: 36, nullable: true })
  actorSessionId: string | null;

  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true }) requestId: string | null;
  @Column({ type: 'varchar', length: 45, nullable: true }) ip: string | null;
}

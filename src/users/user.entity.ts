import { Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { UniqueKey } from '../database/transactions/database-errors.js';

export const USERS_EMAIL_KEY: UniqueKey = { name: 'users_email_key', columns: 'users.email' };

/** stored in place of a hash if the user has no password */
export const NO_PASSWORD_HASH = '!';

@Entity('users')
@Unique(USERS_EMAIL_KEY.name, ['email'])
@Index('users_disabled_email_idx', ['disabledEmail'])
export class User {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', length: 254 }) email: string;
  @Column({ name: 'password_hash', type: 'varchar', length: 255, select: false }) passwordHash: string;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;
  @Column({ type: 'integer', default: 1 }) revision: number;
  @Column({ name: 'auth_epoch', type: 'integer', default: 0 }) authEpoch: number;
  @Column({ name: 'disabled_at', type: 'bigint', nullable: true }) disabledAt: number | null;

  /** the email while the user is disabled, for an index over the few disabled users */
  @Column({ name: 'disabled_email', type: 'varchar', length: 254, nullable: true })
  disabledEmail: string | null;

  @Column({ name: 'email_verified_at', type: 'bigint', nullable: true }) emailVerifiedAt: number | null;
  @Column({ name: 'password_changed_at', type: 'bigint', nullable: true }) passwordChangedAt: number | null;
  @Column({ name: 'second_factor_at', type: 'bigint', nullable: true }) secondFactorAt: number | null;
  @Column({ name: 'operator_since', type: 'bigint', nullable: true }) operatorSince: number | null;

  @Column({ type: 'varchar', length: 100, nullable: true }) name: string | null;
  @Column({ name: 'avatar_url', type: 'varchar', length: 500, nullable: true }) avatarUrl: string | null;
  @Column({ type: 'varchar', length: 35, nullable: true }) locale: string | null;
  @Column({ name: 'password_checked_at', type: 'bigint', nullable: true }) passwordCheckedAt: number | null;
}

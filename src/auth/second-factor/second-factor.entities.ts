import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/transactions/database-errors.js';

export const SECOND_FACTORS_KEY: UniqueKey = { name: 'PRIMARY', columns: 'second_factors.user_id' };

/** A TOTP secret (RFC 6238), pending until the user confirms it with a code. Times are epoch milliseconds. */
@Entity('second_factors')
export class SecondFactor {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'second_factors_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** encrypted, see encrypted-secrets.ts */
  @Column({ type: 'varchar', length: 200, select: false })
  secret: string;

  /** the latest step of 30 seconds whose code was used; no code of this step or an earlier one is accepted */
  @Column({ name: 'last_step', type: 'bigint', default: 0 })
  lastStep: number;

  /** null while pending; `users.second_factor_at` repeats it */
  @Column({ name: 'enabled_at', type: 'bigint', nullable: true })
  enabledAt: number | null;

  /** null once enabled */
  @Column({ name: 'pending_until', type: 'bigint', nullable: true })
  pendingUntil: number | null;
}

/** An attacker who knows the password can use up the guesses of a login, but not those of a session. */
export type FailureScope = 'login' | 'signed-in';

export const SECOND_FACTOR_FAILURES_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'second_factor_failures.user_id, second_factor_failures.scope',
};

@Entity('second_factor_failures')
export class SecondFactorFailures {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'second_factor_failures_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  @PrimaryColumn({ type: 'varchar', length: 9 })
  scope: FailureScope;

  /** wrong TOTP codes, each at most a window after the previous one */
  @Column({ type: 'integer' })
  count: number;

  /** epoch milliseconds of the latest wrong code; more than a window ago if there is none */
  @Column({ type: 'bigint' })
  since: number;

  /** 1 if Accounts has written a notice about these wrong codes */
  @Column({ type: 'integer', default: 0 })
  notified: number;
}

@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'recovery_codes_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  /** SHA-256, which is enough for 128 random bits */
  @PrimaryColumn({ type: 'varchar', length: 43 })
  hash: string;

  /** epoch milliseconds; null until the code is used */
  @Column({ name: 'used_at', type: 'bigint', nullable: true })
  usedAt: number | null;
}

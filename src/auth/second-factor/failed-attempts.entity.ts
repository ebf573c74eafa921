import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/database-errors.js';

/** A stranger who knows the password can use up the attempts of a login, and not those of the owner who is signed in. */
export type AttemptScope = 'login' | 'signed-in';

export const FAILED_ATTEMPTS_KEY: UniqueKey = {
  name: 'PRIMARY',
  columns: 'second_factor_failures.user_id, second_factor_failures.scope',
};

@Entity('second_factor_failures')
export class FailedAttempts {
  @PrimaryColumn({ name: 'user_id', type: 'varchar', length: 36 })
  @ForeignKey('users', { name: 'second_factor_failures_user_id_fkey', onDelete: 'CASCADE' })
  userId: string;

  @PrimaryColumn({ type: 'varchar', length: 9 })
  scope: AttemptScope;

  /** wrong six-digit codes, each at most a window after the one before */
  @Column({ type: 'integer' })
  count: number;

  /** epoch milliseconds of the latest wrong code; longer ago than the window if there is none */
  @Column({ type: 'bigint' })
  since: number;

  /** 1 if the user got a notice of these wrong codes */
  @Column({ type: 'integer', default: 0 })
  notified: number;
}

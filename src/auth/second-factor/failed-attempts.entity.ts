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

  /** six-digit codes since then, each counted as wrong until it has proved right; one above the limit once mailed */
  @Column({ type: 'integer' })
  count: number;

  /** epoch milliseconds of the first; longer ago than the window where there is none */
  @Column({ type: 'bigint' })
  since: number;
}

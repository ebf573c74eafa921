import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, ForeignKey, PrimaryColumn, type Repository } from 'typeorm';
import { isUniqueViolation, type UniqueKey } from '../../database/transactions/database-errors.js';
import type { Transaction } from '../../database/transactions/transactions.js';

/** An attacker who knows the password can use up the tries of `login`, but not those of `signed-in`. */
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

  @PrimaryColumn({ type: 'varchar', length: 9 }) scope: FailureScope;

  /** wrong TOTP codes, each at most a window after the previous one */
  @Column({ type: 'integer' }) count: number;

  /** epoch milliseconds of the latest wrong code; more than a window ago if there is none */
  @Column({ type: 'bigint' }) since: number;
  @Column({ type: 'integer', default: 0 }) notified: number;
}

export type FailureCount = Pick<SecondFactorFailures, 'count' | 'since' | 'notified'>;

/** A window has at most this many wrong TOTP codes: only a whole window without one resets the count. */
const MAX_FAILURES = 10;
const WINDOW_MS = 15 * 60_000;

const FIND = 'SELECT count, since, notified FROM second_factor_failures WHERE user_id = ? AND scope = ?';

@Injectable()
export class SecondFactorFailuresRepository {
  constructor(
    @InjectRepository(SecondFactorFailures) private readonly failures: Repository<SecondFactorFailures>,
  ) {}

  async find(userId: string, scope: FailureScope): Promise<FailureCount | undefined> {
    return (await this.failures.query<FailureCount[]>(FIND, [userId, scope]))[0];
  }

  async lock(tx: Transaction, userId: string, scope: FailureScope): Promise<FailureCount> {
    const lock = async (): Promise<FailureCount | undefined> =>
      (await tx.read<FailureCount>(FIND + tx.forUpdate, [userId, scope]))[0];
    const found = await lock();
    if (found) return found;
    const empty = { count: 0, since: 0, notified: 0 };
    try {
      await tx.of(this.failures).insert({ userId, scope, ...empty });
      return empty;
    } catch (error) {
      const created = isUniqueViolation(error, SECOND_FACTOR_FAILURES_KEY) ? await lock() : undefined;
      if (!created) throw error;
      return created;
    }
  }

  async save(
    tx: Transaction,
    userId: string,
    scope: FailureScope,
    { count, since, notified }: FailureCount,
  ): Promise<void> {
    await tx.write(
      'UPDATE second_factor_failures SET count = ?, since = ?, notified = ? WHERE user_id = ? AND scope = ?',
      [count, since, notified, userId, scope],
    );
  }

  // Changes the row instead of deleting it, so that checks on two nodes of a cluster conflict.
  async clear(tx: Transaction, userId: string, scope: FailureScope): Promise<void> {
    await this.save(tx, userId, scope, { count: 0, since: Date.now() - WINDOW_MS, notified: 0 });
  }

  async clearAll(tx: Transaction, userId: string): Promise<void> {
    await this.clear(tx, userId, 'login');
    await this.clear(tx, userId, 'signed-in');
  }

  async delete(tx: Transaction, userId: string): Promise<void> {
    await tx.write('DELETE FROM second_factor_failures WHERE user_id = ?', [userId]);
  }
}

export function isFull({ count, since }: FailureCount): boolean {
  return count >= MAX_FAILURES && since > Date.now() - WINDOW_MS;
}

export function fullUntil(failures: FailureCount | undefined): number | undefined {
  return failures && isFull(failures) ? failures.since + WINDOW_MS : undefined;
}

export function secondsUntilFree({ since }: FailureCount): number {
  return Math.max(1, Math.ceil((since + WINDOW_MS - Date.now()) / 1000));
}

export function withWrongCode({ count, since, notified }: FailureCount): FailureCount {
  const now = Date.now();
  const isInWindow = since > now - WINDOW_MS;
  return isInWindow ? { count: count + 1, since: now, notified } : { count: 1, since: now, notified: 0 };
}

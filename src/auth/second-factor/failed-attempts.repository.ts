import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/database-errors.js';
import { hotStatement } from '../../database/hot-statements.js';
import { padded, places } from '../../database/lookup.js';
import type { Transaction } from '../../database/transaction.js';
import { type AttemptScope, FAILED_ATTEMPTS_KEY, FailedAttempts } from './failed-attempts.entity.js';

export interface Attempt {
  userId: string;
  scope: AttemptScope;
}

export type FailedCount = Pick<FailedAttempts, 'count' | 'since'>;

type FailedRow = Omit<FailedAttempts, 'scope'>;

/** Any window has at most this number of wrong six-digit codes: only a whole window without one sets the count back. */
export const MAX_FAILED_ATTEMPTS = 10;
export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/** MySQL assigns from left to right, so `since` comes last. */
const countOf = (users: number): string => `UPDATE second_factor_failures
  SET count = CASE WHEN since <= ? THEN 1 ELSE count + 1 END,
    notified = CASE WHEN since <= ? THEN 0 ELSE notified END, since = ?
  WHERE user_id IN (${places(users)}) AND scope = ? AND (count < ${MAX_FAILED_ATTEMPTS} OR since <= ?)`;

const findOf = (
  users: number,
): string => `SELECT user_id AS userId, count, since, notified FROM second_factor_failures
  WHERE user_id IN (${places(users)}) AND scope = ?`;
hotStatement('the failed attempts of users', findOf(2), ['', '', '']);

@Injectable()
export class FailedAttemptsRepository {
  constructor(@InjectRepository(FailedAttempts) private readonly attempts: Repository<FailedAttempts>) {}

  async find({ userId, scope }: Attempt): Promise<FailedRow | undefined> {
    return (await this.attempts.query<FailedRow[]>(findOf(1), [userId, scope]))[0];
  }

  /** Waits for the row, and makes it where there is none. Nobody else counts or clears it until COMMIT. */
  async lock(transaction: Transaction, attempt: Attempt): Promise<FailedCount> {
    const { userId, scope } = attempt;
    const lock = async (): Promise<FailedCount | undefined> =>
      (await transaction.read<FailedCount>(findOf(1) + transaction.forUpdate, [userId, scope]))[0];
    const found = await lock();
    if (found) return found;
    const empty = { count: 0, since: 0 };
    try {
      await transaction.of(this.attempts).insert({ ...attempt, ...empty });
      return empty;
    } catch (error) {
      const made = isUniqueViolation(error, FAILED_ATTEMPTS_KEY) ? await lock() : undefined;
      if (!made) throw error;
      return made;
    }
  }

  /** Locks those rows that there are and nobody else has locked. */
  async lockFree(
    transaction: Transaction,
    userIds: readonly string[],
    scope: AttemptScope,
  ): Promise<Map<string, FailedCount>> {
    const asked = padded(userIds, '');
    const rows = await transaction.read<FailedRow>(findOf(asked.length) + transaction.forUpdateOfFree, [
      ...asked,
      scope,
    ]);
    return new Map(rows.map(({ userId, ...counted }) => [userId, counted]));
  }

  /** Counts one of each user, whose rows are locked and have room. */
  async countLocked(
    transaction: Transaction,
    userIds: readonly string[],
    scope: AttemptScope,
  ): Promise<void> {
    const asked = padded(userIds, '');
    await transaction.write(countOf(asked.length), countValues(asked, scope, Date.now()));
  }

  /** Changes the locked row of a right code by a millisecond: attempts on two nodes of a cluster then conflict. */
  async touch(transaction: Transaction, { userId, scope }: Attempt): Promise<void> {
    await transaction.write(
      'UPDATE second_factor_failures SET since = since + 1 WHERE user_id = ? AND scope = ?',
      [userId, scope],
    );
  }

  /** Returns true once for each full count. */
  async claimNotice(transaction: Transaction, { userId, scope }: Attempt): Promise<boolean> {
    const claimed = await transaction.write(
      `UPDATE second_factor_failures SET notified = 1
        WHERE user_id = ? AND scope = ? AND count >= ? AND notified = 0`,
      [userId, scope, MAX_FAILED_ATTEMPTS],
    );
    return claimed === 1;
  }

  // Keeps the row, so that the next attempt finds one to lock, and changes it even where it counted nothing: on a cluster
  // it then conflicts with the attempts on another node.
  async clear(transaction: Transaction, userIds: readonly string[], scope: AttemptScope): Promise<void> {
    const over = Date.now() - ATTEMPT_WINDOW_MS;
    await transaction.write(
      `UPDATE second_factor_failures SET count = 0, notified = 0, since = ?
        WHERE user_id IN (${places(userIds.length)}) AND scope = ?`,
      [over, ...userIds, scope],
    );
  }

  async delete(transaction: Transaction, userId: string): Promise<void> {
    await transaction.write('DELETE FROM second_factor_failures WHERE user_id = ?', [userId]);
  }
}

export function isFull(attempts: FailedCount | undefined, now = Date.now()): boolean {
  return (
    attempts !== undefined &&
    attempts.count >= MAX_FAILED_ATTEMPTS &&
    attempts.since > now - ATTEMPT_WINDOW_MS
  );
}

function countValues(userIds: readonly string[], scope: AttemptScope, now: number): unknown[] {
  const over = now - ATTEMPT_WINDOW_MS;
  return [over, over, now, ...userIds, scope, over];
}

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { isForeignKeyViolation, isUniqueViolation } from '../../database/database-errors.js';
import { hotStatement } from '../../database/hot-statements.js';
import type { Transaction } from '../../database/transaction.js';
import { Transactions } from '../../database/transactions.js';
import { type AttemptScope, FAILED_ATTEMPTS_KEY, FailedAttempts } from './failed-attempts.entity.js';

export interface Attempt {
  userId: string;
  scope: AttemptScope;
}

type Statements = Pick<Transaction, 'read' | 'write'>;

/** wrong six-digit codes in a window; then no further one is compared */
export const MAX_FAILED_ATTEMPTS = 10;
export const ATTEMPT_WINDOW_MS = 15 * 60_000;

/** MySQL assigns from left to right, so the count comes first. */
const COUNT = `UPDATE second_factor_failures SET count = CASE WHEN since <= ? THEN 1 ELSE count + 1 END,
    since = CASE WHEN since <= ? THEN ? ELSE since END
  WHERE user_id = ? AND scope = ? AND (count < ${MAX_FAILED_ATTEMPTS} OR since <= ?)`;

const FIND = hotStatement(
  'the failed attempts of a user',
  'SELECT count, since FROM second_factor_failures WHERE user_id = ? AND scope = ?',
  ['', ''],
);

@Injectable()
export class FailedAttemptsRepository {
  private readonly alone: Statements;

  constructor(
    @InjectRepository(FailedAttempts) attempts: Repository<FailedAttempts>,
    transactions: Transactions,
  ) {
    this.alone = {
      read: (sql, values) => attempts.query(sql, values),
      write: (sql, values) => transactions.write(sql, values),
    };
  }

  /**
   * Decides for all instances in one statement: it commits before this returns, or locks the row until the transaction
   * ends. Returns false if the window is full, or the user is gone.
   */
  async count(attempt: Attempt, by: Statements = this.alone): Promise<boolean> {
    const now = Date.now();
    if (await add(by, attempt, now)) return true;
    const row = await this.find(attempt, by);
    if (isFull(row, now)) return false;
    // A row that has room now was made or cleared after the statement.
    return (row ? undefined : await begin(by, attempt, now)) ?? add(by, attempt, now);
  }

  async find(
    { userId, scope }: Attempt,
    by: Statements = this.alone,
  ): Promise<Pick<FailedAttempts, 'count' | 'since'> | undefined> {
    const rows = await by.read<Pick<FailedAttempts, 'count' | 'since'>>(FIND, [userId, scope]);
    return rows[0];
  }

  /** Returns true once for each full window. */
  async claimNotice(transaction: Transaction, { userId, scope }: Attempt): Promise<boolean> {
    const claimed = await transaction.write(
      'UPDATE second_factor_failures SET count = count + 1 WHERE user_id = ? AND scope = ? AND count = ?',
      [userId, scope, MAX_FAILED_ATTEMPTS],
    );
    return claimed === 1;
  }

  /** Keeps the row, so that the next attempt takes one statement. */
  async clear(transaction: Transaction, { userId, scope }: Attempt): Promise<void> {
    await transaction.write(
      'UPDATE second_factor_failures SET count = 0, since = 0 WHERE user_id = ? AND scope = ?',
      [userId, scope],
    );
  }

  async delete(transaction: Transaction, userId: string): Promise<void> {
    await transaction.write('DELETE FROM second_factor_failures WHERE user_id = ?', [userId]);
  }
}

export function isFull(
  attempts: Pick<FailedAttempts, 'count' | 'since'> | undefined,
  now = Date.now(),
): boolean {
  return (
    attempts !== undefined &&
    attempts.count >= MAX_FAILED_ATTEMPTS &&
    attempts.since > now - ATTEMPT_WINDOW_MS
  );
}

async function add(by: Statements, { userId, scope }: Attempt, now: number): Promise<boolean> {
  const over = now - ATTEMPT_WINDOW_MS;
  return (await by.write(COUNT, [over, over, now, userId, scope, over])) === 1;
}

/** Returns undefined if another request was first. */
async function begin(by: Statements, { userId, scope }: Attempt, now: number): Promise<boolean | undefined> {
  try {
    await by.write('INSERT INTO second_factor_failures (user_id, scope, count, since) VALUES (?, ?, 1, ?)', [
      userId,
      scope,
      now,
    ]);
    return true;
  } catch (error) {
    if (isUniqueViolation(error, FAILED_ATTEMPTS_KEY)) return undefined;
    if (isForeignKeyViolation(error)) return false;
    throw error;
  }
}

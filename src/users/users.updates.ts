import { Injectable } from '@nestjs/common';
import { places } from '../database/statements.js';
import { isUniqueViolation } from '../database/transactions/database-errors.js';
import type { Transaction } from '../database/transactions/transactions.js';
import { type Profile, PROFILE, PROFILE_COLUMNS, PROFILE_FIELDS } from './profile.js';
import { type User, USERS_EMAIL_KEY } from './user.entity.js';
import { Problem } from '../problems/problem.js';

export type UserState = Omit<User, 'passwordHash' | 'passwordChangedAt' | 'createdAt' | 'disabledEmail'>;

const SET_PROFILE = PROFILE_FIELDS.map((name) => `${PROFILE[name].column} = ?`).join(', ');

/** more than the changes of one user between a backup and its restore */
const EPOCH_LEAP = 1000;

/** `inUser` raises the revision, so most of these statements do not. */
@Injectable()
export class UserUpdates {
  async raiseRevisions(transaction: Transaction, ids: readonly string[]): Promise<void> {
    await set(transaction, ids, 'revision = revision + 1');
  }

  /** The transaction must have written the rows. Leaves out users who no longer exist. */
  findStates(transaction: Transaction, ids: readonly string[]): Promise<UserState[]> {
    return transaction.read<UserState>(
      `SELECT id, email, email_verified_at AS emailVerifiedAt, disabled_at AS disabledAt,
          second_factor_at AS secondFactorAt, operator_since AS operatorSince, revision, auth_epoch AS authEpoch,
          ${PROFILE_COLUMNS}
        FROM users WHERE id IN (${places(ids.length)}) ORDER BY id`,
      [...ids],
    );
  }

  async stateOf(transaction: Transaction, id: string): Promise<UserState> {
    return (await this.findStates(transaction, [id]))[0]!;
  }

  /** No session leaves the epoch until COMMIT. Returns undefined if there is no such user. */
  async lockEpoch(transaction: Transaction, id: string): Promise<number | undefined> {
    const sql = `SELECT auth_epoch AS authEpoch FROM users WHERE id = ?${transaction.forUpdate}`;
    return (await transaction.read<{ authEpoch: number }>(sql, [id]))[0]?.authEpoch;
  }

  async endSessions(transaction: Transaction, ids: readonly string[]): Promise<void> {
    await set(transaction, ids, 'auth_epoch = auth_epoch + 1');
  }

  /** Raises the epochs of the next users by id beyond all that they have had. Returns their ids. */
  async leapEpochs(transaction: Transaction, afterId: string, limit: number): Promise<string[]> {
    const sql = 'SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?';
    const ids = (await transaction.read<{ id: string }>(sql, [afterId, limit])).map(({ id }) => id);
    if (ids.length === 0) return ids;
    await set(transaction, ids, `auth_epoch = auth_epoch + ${EPOCH_LEAP}`);
    return ids;
  }

  async disable(transaction: Transaction, id: string): Promise<void> {
    const now = Date.now();
    await set(transaction, [id], 'disabled_at = ?, disabled_email = email, auth_epoch = auth_epoch + 1', now);
  }

  async enable(transaction: Transaction, id: string): Promise<void> {
    await set(transaction, [id], 'disabled_at = NULL, disabled_email = NULL');
  }

  async setOperator(transaction: Transaction, id: string, since: number | null): Promise<void> {
    await set(transaction, [id], 'operator_since = ?', since);
  }

  async setPassword(transaction: Transaction, id: string, hash: string): Promise<void> {
    const columns = `password_hash = ?, password_changed_at = ?, password_checked_at = NULL,
      auth_epoch = auth_epoch + 1`;
    await set(transaction, [id], columns, hash, Date.now());
  }

  async hasPassword(transaction: Transaction, id: string, hash: string): Promise<boolean> {
    const sql = 'SELECT id FROM users WHERE id = ? AND password_hash = ?';
    return (await transaction.read(sql, [id, hash])).length === 1;
  }

  async setSecondFactor(transaction: Transaction, id: string, at: number | null): Promise<void> {
    await set(transaction, [id], 'second_factor_at = ?, auth_epoch = auth_epoch + 1', at);
  }

  async setProfile(transaction: Transaction, id: string, profile: Profile): Promise<void> {
    await set(transaction, [id], SET_PROFILE, ...PROFILE_FIELDS.map((name) => profile[name]));
  }

  async verifyEmail(transaction: Transaction, id: string): Promise<void> {
    await set(transaction, [id], 'email_verified_at = ?', Date.now());
  }

  async proveEmail(transaction: Transaction, id: string, email: string): Promise<boolean> {
    const sql = `UPDATE users SET email_verified_at = ?, revision = revision + 1
      WHERE id = ? AND email_verified_at IS NULL AND email = ?`;
    return (await transaction.write(sql, [Date.now(), id, email])) === 1;
  }

  async changeEmail(transaction: Transaction, id: string, email: string, isVerified: boolean): Promise<void> {
    try {
      const columns = `disabled_email = CASE WHEN disabled_at IS NULL THEN NULL ELSE ? END, email = ?,
        email_verified_at = ?`;
      await set(transaction, [id], columns, email, email, isVerified ? Date.now() : null);
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new Problem('email_taken') : error;
    }
  }

  /** Call it last: no row may refer to the user. */
  async delete(transaction: Transaction, id: string): Promise<void> {
    await transaction.write('DELETE FROM users WHERE id = ?', [id]);
  }
}

async function set(
  transaction: Transaction,
  ids: readonly string[],
  columns: string,
  ...values: (string | number | null)[]
): Promise<void> {
  const sql = `UPDATE users SET ${columns} WHERE id IN (${places(ids.length)})`;
  await transaction.write(sql, [...values, ...ids]);
}

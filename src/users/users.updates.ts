import { Injectable } from '@nestjs/common';
import { placeholders } from '../database/statements.js';
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
export class UserUpdatesRepository {
  async raiseRevisions(tx: Transaction, ids: readonly string[]): Promise<void> {
    await set(tx, ids, 'revision = revision + 1');
  }

  /** The transaction must have written the rows. Leaves out users who no longer exist. */
  findStates(tx: Transaction, ids: readonly string[]): Promise<UserState[]> {
    return tx.read<UserState>(
      `SELECT id, email, email_verified_at AS emailVerifiedAt, disabled_at AS disabledAt,
          second_factor_at AS secondFactorAt, operator_since AS operatorSince, revision, auth_epoch AS authEpoch,
          ${PROFILE_COLUMNS}
        FROM users WHERE id IN (${placeholders(ids.length)}) ORDER BY id`,
      [...ids],
    );
  }

  async stateOf(tx: Transaction, id: string): Promise<UserState> {
    return (await this.findStates(tx, [id]))[0]!;
  }

  /** No session leaves the epoch until COMMIT. Returns undefined if there is no such user. */
  async lockEpoch(tx: Transaction, id: string): Promise<number | undefined> {
    const sql = `SELECT auth_epoch AS authEpoch FROM users WHERE id = ?${tx.forUpdate}`;
    return (await tx.read<{ authEpoch: number }>(sql, [id]))[0]?.authEpoch;
  }

  async endSessions(tx: Transaction, ids: readonly string[]): Promise<void> {
    await set(tx, ids, 'auth_epoch = auth_epoch + 1');
  }

  /** Raises the epochs of the next users by id beyond all that they have had. Returns their ids. */
  async leapEpochs(tx: Transaction, afterId: string, limit: number): Promise<string[]> {
    const sql = 'SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?';
    const ids = (await tx.read<{ id: string }>(sql, [afterId, limit])).map(({ id }) => id);
    if (ids.length === 0) return ids;
    await set(tx, ids, `auth_epoch = auth_epoch + ${EPOCH_LEAP}`);
    return ids;
  }

  async disable(tx: Transaction, id: string): Promise<void> {
    const now = Date.now();
    await set(tx, [id], 'disabled_at = ?, disabled_email = email, auth_epoch = auth_epoch + 1', now);
  }

  async enable(tx: Transaction, id: string): Promise<void> {
    await set(tx, [id], 'disabled_at = NULL, disabled_email = NULL');
  }

  async setOperator(tx: Transaction, id: string, since: number | null): Promise<void> {
    await set(tx, [id], 'operator_since = ?', since);
  }

  async setPassword(tx: Transaction, id: string, hash: string): Promise<void> {
    const columns = `password_hash = ?, password_changed_at = ?, password_checked_at = NULL,
      auth_epoch = auth_epoch + 1`;
    await set(tx, [id], columns, hash, Date.now());
  }

  async hasPassword(tx: Transaction, id: string, hash: string): Promise<boolean> {
    const sql = 'SELECT id FROM users WHERE id = ? AND password_hash = ?';
    return (await tx.read(sql, [id, hash])).length === 1;
  }

  async setSecondFactor(tx: Transaction, id: string, at: number | null): Promise<void> {
    await set(tx, [id], 'second_factor_at = ?, auth_epoch = auth_epoch + 1', at);
  }

  async setProfile(tx: Transaction, id: string, profile: Profile): Promise<void> {
    await set(tx, [id], SET_PROFILE, ...PROFILE_FIELDS.map((name) => profile[name]));
  }

  async verifyEmail(tx: Transaction, id: string): Promise<void> {
    await set(tx, [id], 'email_verified_at = ?', Date.now());
  }

  async proveEmail(tx: Transaction, id: string, email: string): Promise<boolean> {
    const sql = `UPDATE users SET email_verified_at = ?, revision = revision + 1
      WHERE id = ? AND email_verified_at IS NULL AND email = ?`;
    return (await tx.write(sql, [Date.now(), id, email])) === 1;
  }

  async changeEmail(tx: Transaction, id: string, email: string, isVerified: boolean): Promise<void> {
    try {
      const columns = `disabled_email = CASE WHEN disabled_at IS NULL THEN NULL ELSE ? END, email = ?,
        email_verified_at = ?`;
      await set(tx, [id], columns, email, email, isVerified ? Date.now() : null);
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new Problem('email_taken') : error;
    }
  }

  /** Call it last: no row may refer to the user. */
  async delete(tx: Transaction, id: string): Promise<void> {
    await tx.write('DELETE FROM users WHERE id = ?', [id]);
  }
}

async function set(
  tx: Transaction,
  ids: readonly string[],
  columns: string,
  ...values: (string | number | null)[]
): Promise<void> {
  const sql = `UPDATE users SET ${columns} WHERE id IN (${placeholders(ids.length)})`;
  await tx.write(sql, [...values, ...ids]);
}

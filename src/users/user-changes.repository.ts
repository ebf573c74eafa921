import { Injectable } from '@nestjs/common';
import { places } from '../database/statements.js';
import type { Transaction } from '../database/transactions/transaction.js';
import type { User } from './user.entity.js';

type EndedUser = Pick<User, 'id' | 'operatorSince' | 'authEpoch'>;

type ResetUser = Pick<User, 'id' | 'email'> & { authEpoch: number | null };

export type ChangedUser = Pick<User, 'revision' | 'operatorSince' | 'secondFactorAt' | 'authEpoch'>;

/** more than the changes of one user between a backup and its restore */
const EPOCH_LEAP = 1000;

/** Each change returns whether it changed anything. */
@Injectable()
export class UserChangesRepository {
  disable(transaction: Transaction, id: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET disabled_at = ?, disabled_email = email, auth_epoch = auth_epoch + 1, revision = revision + 1
        WHERE id = ? AND disabled_at IS NULL`,
      [Date.now(), id],
    );
  }

  // Returns whether the user is enabled, which holds until COMMIT. It is a write, so that it conflicts with disabling
  // on a multi-primary cluster too.
  lockEnabled(transaction: Transaction, id: string): Promise<boolean> {
    return this.change(
      transaction,
      'UPDATE users SET revision = revision + 1 WHERE id = ? AND disabled_at IS NULL',
      [id],
    );
  }

  enable(transaction: Transaction, id: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET disabled_at = NULL, disabled_email = NULL, revision = revision + 1
        WHERE id = ? AND disabled_at IS NOT NULL`,
      [id],
    );
  }

  /** The transaction holds the row. */
  async grantOperator(transaction: Transaction, id: string): Promise<void> {
    await this.change(transaction, 'UPDATE users SET operator_since = ? WHERE id = ?', [Date.now(), id]);
  }

  revokeOperator(transaction: Transaction, id: string): Promise<boolean> {
    return this.change(
      transaction,
      'UPDATE users SET operator_since = NULL, revision = revision + 1 WHERE id = ? AND operator_since IS NOT NULL',
      [id],
    );
  }

  /** Returns the new epoch; undefined if there is no such user. */
  async endSessions(transaction: Transaction, id: string): Promise<number | undefined> {
    return (await this.endSessionsOf(transaction, [id]))[0]?.authEpoch;
  }

  /** Returns the epoch, which no session leaves until COMMIT; undefined if there is no such user. */
  async lockEpoch(transaction: Transaction, id: string): Promise<number | undefined> {
    const sql = `SELECT auth_epoch AS authEpoch FROM users WHERE id = ?${transaction.forUpdate}`;
    return (await transaction.read<{ authEpoch: number }>(sql, [id]))[0]?.authEpoch;
  }

  async endSessionsOf(transaction: Transaction, ids: readonly string[]): Promise<EndedUser[]> {
    const isOne = `id IN (${places(ids.length)})`;
    await transaction.write(`UPDATE users SET auth_epoch = auth_epoch + 1 WHERE ${isOne}`, [...ids]);
    return transaction.read<EndedUser>(
      `SELECT id, operator_since AS operatorSince, auth_epoch AS authEpoch FROM users WHERE ${isOne}`,
      [...ids],
    );
  }

  /** Raises the epoch of the next users by id, so far that it is none that they have had; returns their ids. */
  async leapEpochs(transaction: Transaction, afterId: string, limit: number): Promise<string[]> {
    const rows = await transaction.read<{ id: string }>(
      'SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?',
      [afterId, limit],
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length === 0) return ids;
    await transaction.write(
      `UPDATE users SET auth_epoch = auth_epoch + ${EPOCH_LEAP} WHERE id IN (${places(ids.length)})`,
      ids,
    );
    return ids;
  }

  /** Begin with it: whatever would belong to the user waits for COMMIT, and then finds nobody. */
  beginDeletion(transaction: Transaction, id: string, passwordHash?: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET auth_epoch = auth_epoch + 1, revision = revision + 1
        WHERE id = ? AND password_hash = COALESCE(?, password_hash)`,
      [id, passwordHash ?? null],
    );
  }

  /** End with it: nothing may refer to the user any more. */
  async delete(transaction: Transaction, id: string): Promise<void> {
    await transaction.write('DELETE FROM users WHERE id = ?', [id]);
  }

  /** Ends every session, too. */
  setPassword(transaction: Transaction, id: string, hash: string): Promise<boolean> {
    return this.change(
      transaction,
      'UPDATE users SET password_hash = ?, password_changed_at = ?, auth_epoch = auth_epoch + 1, revision = revision + 1 WHERE id = ?',
      [hash, Date.now(), id],
    );
  }

  /**
   * Changes nothing if the email or, where one is given, the epoch has changed since, or the user is disabled. Ends every
   * session, too.
   */
  resetPassword(
    transaction: Transaction,
    { id, email, authEpoch }: ResetUser,
    hash: string,
  ): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET password_hash = ?, password_changed_at = ?, auth_epoch = auth_epoch + 1, revision = revision + 1
        WHERE id = ? AND email = ? AND auth_epoch = COALESCE(?, auth_epoch) AND disabled_at IS NULL`,
      [hash, Date.now(), id, email, authEpoch],
    );
  }

  /** Changes nothing if the hash has changed since or the user is disabled. Ends every session, too. */
  changePassword(transaction: Transaction, id: string, from: string, to: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET password_hash = ?, password_changed_at = ?, auth_epoch = auth_epoch + 1, revision = revision + 1
        WHERE id = ? AND password_hash = ? AND disabled_at IS NULL`,
      [to, Date.now(), id, from],
    );
  }

  /** Ends every session, too. Changes nothing if a second factor is enabled. */
  enableSecondFactor(transaction: Transaction, id: string, at: number): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET second_factor_at = ?, auth_epoch = auth_epoch + 1, revision = revision + 1
        WHERE id = ? AND second_factor_at IS NULL`,
      [at, id],
    );
  }

  /** Ends every session, too. Changes nothing if no second factor is enabled. */
  removeSecondFactor(transaction: Transaction, id: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET second_factor_at = NULL, auth_epoch = auth_epoch + 1, revision = revision + 1
        WHERE id = ? AND second_factor_at IS NOT NULL`,
      [id],
    );
  }

  /** Returns whether no session has ended with the epoch since it was read, which holds until COMMIT. */
  lockInEpoch(transaction: Transaction, id: string, authEpoch: number): Promise<boolean> {
    return this.change(
      transaction,
      'UPDATE users SET revision = revision + 1 WHERE id = ? AND auth_epoch = ? AND disabled_at IS NULL',
      [id, authEpoch],
    );
  }

  /** For what has no other change of the user's row. Returns the new revision. */
  async raiseRevision(transaction: Transaction, id: string): Promise<number> {
    await transaction.write('UPDATE users SET revision = revision + 1 WHERE id = ?', [id]);
    return (await this.stateOf(transaction, id)).revision;
  }

  /** Requires that the transaction has changed the user's row. */
  async stateOf(transaction: Transaction, id: string): Promise<ChangedUser> {
    const [row] = await transaction.read<ChangedUser>(
      `SELECT revision, operator_since AS operatorSince, second_factor_at AS secondFactorAt,
          auth_epoch AS authEpoch
        FROM users WHERE id = ?`,
      [id],
    );
    return row!;
  }

  private async change(transaction: Transaction, sql: string, values: unknown[]): Promise<boolean> {
    return (await transaction.write(sql, values)) === 1;
  }
}

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, MoreThan, type Repository } from 'typeorm';
import { places } from '../database/lookup.js';
import type { Transaction } from '../database/transaction.js';
import { isUniqueViolation } from '../database/database-errors.js';
import { User, USERS_EMAIL_KEY } from './user.entity.js';
import { EmailTakenError } from './users.errors.js';

/** The columns that operators see, never the hash of the password. */
export type Account = Pick<
  User,
  'id' | 'email' | 'createdAt' | 'disabledAt' | 'emailVerifiedAt' | 'passwordChangedAt'
>;

const ACCOUNT = {
  id: true,
  email: true,
  createdAt: true,
  disabledAt: true,
  emailVerifiedAt: true,
  passwordChangedAt: true,
} as const;

type EmailClaim = { email: string; authEpoch: number | null };

/** Each change returns whether it changed anything. */
@Injectable()
export class AccountRepository {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  findById(id: string): Promise<Account | null> {
    return this.users.findOne({ where: { id }, select: ACCOUNT });
  }

  findByEmail(email: string): Promise<Account | null> {
    return this.users.findOne({ where: { email }, select: ACCOUNT });
  }

  findForProof(id: string): Promise<Pick<User, 'id' | 'email' | 'emailVerifiedAt' | 'authEpoch'> | null> {
    return this.users.findOne({
      where: { id },
      select: { id: true, email: true, emailVerifiedAt: true, authEpoch: true },
    });
  }

  findActiveIn(transaction: Transaction, email: string): Promise<Account | null> {
    return transaction.of(this.users).findOne({ where: { email, disabledAt: IsNull() }, select: ACCOUNT });
  }

  async findActiveEmails(emails: readonly string[]): Promise<string[]> {
    const where = { email: In([...new Set(emails)]), disabledAt: IsNull() };
    return (await this.users.find({ where, select: { email: true } })).map(({ email }) => email);
  }

  search(text: string, limit: number, afterEmail = ''): Promise<Account[]> {
    const literal = text.toLowerCase().replaceAll(/[!%_]/g, '!$&');
    return this.users
      .createQueryBuilder('u')
      .select(Object.keys(ACCOUNT).map((column) => `u.${column}`))
      .where("u.email > :afterEmail AND u.email LIKE :pattern ESCAPE '!'", {
        afterEmail,
        pattern: `%${literal}%`,
      })
      .orderBy('u.email')
      .limit(limit)
      .getMany();
  }

  findPage(limit: number, afterEmail = ''): Promise<Account[]> {
    const where = { email: MoreThan(afterEmail) };
    return this.users.find({ where, select: ACCOUNT, order: { email: 'ASC' }, take: limit });
  }

  disable(transaction: Transaction, id: string): Promise<boolean> {
    return this.change(
      transaction,
      'UPDATE users SET disabled_at = ?, auth_epoch = auth_epoch + 1, revision = revision + 1 WHERE id = ? AND disabled_at IS NULL',
      [Date.now(), id],
    );
  }

  // Returns whether the account is enabled, which holds until COMMIT. It is a write, so that it conflicts with disabling
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
      'UPDATE users SET disabled_at = NULL, revision = revision + 1 WHERE id = ? AND disabled_at IS NOT NULL',
      [id],
    );
  }

  endSessions(transaction: Transaction, id: string): Promise<boolean> {
    return this.change(transaction, 'UPDATE users SET auth_epoch = auth_epoch + 1 WHERE id = ?', [id]);
  }

  /** Returns the ids that exist. */
  async endSessionsOf(transaction: Transaction, ids: readonly string[]): Promise<string[]> {
    const isOne = `id IN (${places(ids.length)})`;
    await transaction.write(`UPDATE users SET auth_epoch = auth_epoch + 1 WHERE ${isOne}`, [...ids]);
    const rows = await transaction.read<{ id: string }>(`SELECT id FROM users WHERE ${isOne}`, [...ids]);
    return rows.map(({ id }) => id);
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
  setPasswordHash(transaction: Transaction, id: string, hash: string): Promise<boolean> {
    return this.change(
      transaction,
      'UPDATE users SET password_hash = ?, password_changed_at = ?, auth_epoch = auth_epoch + 1, revision = revision + 1 WHERE id = ?',
      [hash, Date.now(), id],
    );
  }

  /** Changes nothing if the hash has changed since or the account is disabled. Ends every session, too. */
  replacePasswordHash(transaction: Transaction, id: string, from: string, to: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET password_hash = ?, password_changed_at = ?, auth_epoch = auth_epoch + 1, revision = revision + 1
        WHERE id = ? AND password_hash = ? AND disabled_at IS NULL`,
      [to, Date.now(), id, from],
    );
  }

  /** @param email the one that was proven; without it, whichever the account has */
  verifyEmail(transaction: Transaction, id: string, email?: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET email_verified_at = ?, revision = revision + 1
        WHERE id = ? AND email_verified_at IS NULL${email === undefined ? '' : ' AND email = ?'}`,
      [Date.now(), id, ...(email === undefined ? [] : [email])],
    );
  }

  /** Returns `void` if it is not the user's e-mail any more, or the epoch has ended. */
  async proveEmail(
    transaction: Transaction,
    id: string,
    { email, authEpoch }: EmailClaim,
  ): Promise<'verified' | 'verified before' | 'void'> {
    const verified = await this.change(
      transaction,
      `UPDATE users SET email_verified_at = ?, revision = revision + 1
        WHERE id = ? AND email = ? AND auth_epoch = ? AND email_verified_at IS NULL`,
      [Date.now(), id, email, authEpoch],
    );
    if (verified) return 'verified';
    const isStill = await transaction.of(this.users).existsBy({ id, email, authEpoch: authEpoch ?? -1 });
    return isStill ? 'verified before' : 'void';
  }

  /** Sets a verified e-mail; returns false if the epoch has ended. */
  async changeEmail(
    transaction: Transaction,
    id: string,
    { email, authEpoch }: EmailClaim,
  ): Promise<boolean> {
    try {
      return await this.change(
        transaction,
        `UPDATE users SET email = ?, email_verified_at = ?, revision = revision + 1
          WHERE id = ? AND auth_epoch = ?`,
        [email, Date.now(), id, authEpoch],
      );
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new EmailTakenError() : error;
    }
  }

  /** Changes nothing if the e-mail is no longer `from`. */
  async replaceEmail(
    transaction: Transaction,
    { id, email: from }: Pick<User, 'id' | 'email'>,
    to: string,
    isVerified: boolean,
  ): Promise<boolean> {
    try {
      return await this.change(
        transaction,
        'UPDATE users SET email = ?, email_verified_at = ?, revision = revision + 1 WHERE id = ? AND email = ?',
        [to, isVerified ? Date.now() : null, id, from],
      );
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new EmailTakenError() : error;
    }
  }

  /** Requires that the transaction has changed the user's row. */
  async emailOf(transaction: Transaction, id: string): Promise<Pick<User, 'email' | 'emailVerifiedAt'>> {
    const [row] = await transaction.read<Pick<User, 'email' | 'emailVerifiedAt'>>(
      'SELECT email, email_verified_at AS emailVerifiedAt FROM users WHERE id = ?',
      [id],
    );
    return row!;
  }

  /** Requires that the transaction has changed the user's row. */
  async revisionOf(transaction: Transaction, id: string): Promise<number> {
    const [row] = await transaction.read<{ revision: number }>('SELECT revision FROM users WHERE id = ?', [
      id,
    ]);
    return row!.revision;
  }

  private async change(transaction: Transaction, sql: string, values: unknown[]): Promise<boolean> {
    return (await transaction.write(sql, values)) === 1;
  }
}

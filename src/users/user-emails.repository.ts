import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { isUniqueViolation } from '../database/transactions/database-errors.js';
import type { Transaction } from '../database/transactions/transaction.js';
import { User, USERS_EMAIL_KEY } from './user.entity.js';
import { EmailTakenError } from './users.errors.js';

type EmailClaim = { email: string; authEpoch: number | null };

const DISABLED_EMAIL = 'disabled_email = CASE WHEN disabled_at IS NULL THEN NULL ELSE ? END';

/** Each change returns whether it changed anything. */
@Injectable()
export class UserEmailsRepository {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  /** @param email the one that was proven; without it, whichever the user has */
  verifyEmail(transaction: Transaction, id: string, email?: string): Promise<boolean> {
    return this.change(
      transaction,
      `UPDATE users SET email_verified_at = ?, revision = revision + 1
        WHERE id = ? AND email_verified_at IS NULL${email === undefined ? '' : ' AND email = ?'}`,
      [Date.now(), id, ...(email === undefined ? [] : [email])],
    );
  }

  /** Returns `void` if it is not the user's email any more, or the epoch has ended. */
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

  /** Returns the email, which stays the user's until COMMIT unless this transaction changes it. */
  async lockEmail(transaction: Transaction, id: string): Promise<string | undefined> {
    const sql = `SELECT email FROM users WHERE id = ?${transaction.forUpdate}`;
    return (await transaction.read<Pick<User, 'email'>>(sql, [id]))[0]?.email;
  }

  /** Sets a verified email; returns false if the epoch has ended. */
  async changeEmail(
    transaction: Transaction,
    id: string,
    { email, authEpoch }: EmailClaim,
  ): Promise<boolean> {
    try {
      return await this.change(
        transaction,
        `UPDATE users SET ${DISABLED_EMAIL}, email = ?, email_verified_at = ?, revision = revision + 1
          WHERE id = ? AND auth_epoch = ?`,
        [email, email, Date.now(), id, authEpoch],
      );
    } catch (error) {
      throw isUniqueViolation(error, USERS_EMAIL_KEY) ? new EmailTakenError() : error;
    }
  }

  /** Changes nothing if the email is no longer `from`. */
  async replaceEmail(
    transaction: Transaction,
    { id, email: from }: Pick<User, 'id' | 'email'>,
    to: string,
    isVerified: boolean,
  ): Promise<boolean> {
    try {
      return await this.change(
        transaction,
        `UPDATE users SET ${DISABLED_EMAIL}, email = ?, email_verified_at = ?, revision = revision + 1
          WHERE id = ? AND email = ?`,
        [to, to, isVerified ? Date.now() : null, id, from],
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

  private async change(transaction: Transaction, sql: string, values: unknown[]): Promise<boolean> {
    return (await transaction.write(sql, values)) === 1;
  }
}

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { isUniqueViolation } from '../../database/transactions/database-errors.js';
import { hotStatement, places } from '../../database/statements.js';
import type { Transaction } from '../../database/transactions/transaction.js';
import { newEntityId } from '../../identifiers/entity-id.js';
import { EMAIL_CODES_SUBJECT_KEY, EmailCode, type EmailCodePurpose } from './email-code.entity.js';

export type EmailCodeKey = Pick<EmailCode, 'purpose' | 'subject'>;

export type NewEmailCode = EmailCodeKey &
  Pick<EmailCode, 'email' | 'authEpoch' | 'handedOut' | 'userId' | 'expiresAt'>;

const PURGE_AFTER_MS = 3_600_000;

const FIND_OLD = hotStatement(
  'the clean-up of mailed codes',
  'SELECT id FROM email_codes WHERE purge_at < ? ORDER BY purge_at LIMIT ?',
  [0, 1],
);
const FIND = hotStatement(
  'the look-up of mailed codes',
  `SELECT id, purpose, subject, email, auth_epoch AS authEpoch, code_number AS codeNumber, tries,
     handed_out AS handedOut, user_id AS userId, expires_at AS expiresAt
   FROM email_codes WHERE purpose IN (?, ?) AND subject = ?`,
  ['password_reset', 'password_reset', ''],
);

@Injectable()
export class EmailCodesRepository {
  constructor(@InjectRepository(EmailCode) private readonly codes: Repository<EmailCode>) {}

  /** Makes sure that a row exists, with or without a code. */
  async keep(transaction: Transaction, { purpose, subject }: EmailCodeKey): Promise<void> {
    const purgeAt = Date.now() + PURGE_AFTER_MS;
    await this.updateOrInsert(
      transaction,
      () =>
        transaction.write('UPDATE email_codes SET purge_at = ? WHERE purpose = ? AND subject = ?', [
          purgeAt,
          purpose,
          subject,
        ]),
      { purpose, subject, email: subject, purgeAt },
    );
  }

  async renew(transaction: Transaction, code: NewEmailCode): Promise<void> {
    const { purpose, subject, email, authEpoch, handedOut, userId, expiresAt } = code;
    const purgeAt = Date.now() + PURGE_AFTER_MS;
    await this.updateOrInsert(
      transaction,
      () =>
        transaction.write(
          `UPDATE email_codes SET code_number = code_number + 1, tries = 0, email = ?, auth_epoch = ?,
             handed_out = ?, user_id = ?, expires_at = ?, purge_at = ? WHERE purpose = ? AND subject = ?`,
          [email, authEpoch, handedOut, userId, expiresAt, purgeAt, purpose, subject],
        ),
      { ...code, codeNumber: 1, purgeAt },
    );
  }

  /** Writes the same for every row, whether or not it has a code. */
  async countTry(
    transaction: Transaction,
    purposes: readonly EmailCodePurpose[],
    subject: string,
  ): Promise<void> {
    await transaction.write(
      `UPDATE email_codes SET tries = tries + 1 WHERE purpose IN (${places(purposes.length)}) AND subject = ?`,
      [...purposes, subject],
    );
  }

  find(
    transaction: Transaction,
    [first, second = first]: readonly [EmailCodePurpose, EmailCodePurpose?],
    subject: string,
  ): Promise<EmailCode[]> {
    return transaction.read<EmailCode>(FIND, [first, second, subject]);
  }

  isCurrent(id: string, codeNumber: number): Promise<boolean> {
    return this.codes.existsBy({ id, codeNumber });
  }

  /** Returns true for the one request that deletes the row, which consumes the code. */
  async use(transaction: Transaction, { id, codeNumber }: EmailCode): Promise<boolean> {
    const used = await transaction.write('DELETE FROM email_codes WHERE id = ? AND code_number = ?', [
      id,
      codeNumber,
    ]);
    return used === 1;
  }

  async void(transaction: Transaction, { purpose, subject }: EmailCodeKey): Promise<void> {
    await transaction.of(this.codes).delete({ purpose, subject });
  }

  /** Includes the code that an operator handed out. */
  async voidResets(transaction: Transaction, email: string): Promise<void> {
    await this.void(transaction, { purpose: 'password_reset', subject: email });
    await this.void(transaction, { purpose: 'handed_out_reset', subject: email });
  }

  async voidAll(transaction: Transaction, { id, email }: { id: string; email: string }): Promise<void> {
    await this.voidResets(transaction, email);
    await this.void(transaction, { purpose: 'email_verification', subject: id });
    await this.void(transaction, { purpose: 'email_change', subject: id });
  }

  async findOld(now: number, limit: number): Promise<string[]> {
    const rows = await this.codes.query<{ id: string }[]>(FIND_OLD, [now, limit]);
    return rows.map(({ id }) => id);
  }

  async purge(ids: readonly string[]): Promise<void> {
    await this.codes.delete({ id: In(ids) });
  }

  /** Another request may insert meanwhile: then the row is there to be updated. */
  private async updateOrInsert(
    transaction: Transaction,
    update: () => Promise<number>,
    row: EmailCodeKey & Partial<EmailCode>,
  ): Promise<void> {
    if ((await update()) === 1) return;
    try {
      await transaction.of(this.codes).insert({ id: newEntityId(), ...row });
    } catch (error) {
      if (!isUniqueViolation(error, EMAIL_CODES_SUBJECT_KEY)) throw error;
      await update();
    }
  }
}

import { Column, Entity, In, Index, PrimaryColumn, type Repository } from 'typeorm';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUniqueViolation, type UniqueKey } from '../../database/transactions/database-errors.js';
import { idsOf } from '../../database/statements.js';
import type { Transaction } from '../../database/transactions/transactions.js';
import { newEntityId } from '../../identifiers/entity-id.js';

const EMAIL_CODES_SUBJECT_KEY: UniqueKey = {
  name: 'email_codes_subject_key',
  columns: 'email_codes.purpose, email_codes.subject',
};

/** Invitations only have a placeholder row here: their codes are derived from invitation rows. */
export type EmailCodePurpose =
  | 'password_reset'
  | 'handed_out_reset'
  | 'password_setup'
  | 'email_verification'
  | 'email_change'
  | 'invitation';

/** Accounts stores no code: it derives the code from this row and the signing keys. Times are epoch milliseconds. */
@Entity('email_codes')
@Index(EMAIL_CODES_SUBJECT_KEY.name, ['purpose', 'subject'], { unique: true })
@Index('email_codes_purge_at_idx', ['purgeAt'])
export class EmailCode {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', length: 24 }) purpose: EmailCodePurpose;

  /** the email for a reset, which may have no account; otherwise the user's id */
  @Column({ type: 'varchar', length: 254 }) subject: string;
  @Column({ type: 'varchar', length: 254 }) email: string;

  /** the user's epoch when the code was issued; any other epoch voids the code */
  @Column({ name: 'auth_epoch', type: 'integer', nullable: true }) authEpoch: number | null;

  /** each new code raises it and voids the previous one; 0 if there is no code */
  @Column({ name: 'code_number', type: 'integer', default: 0 }) codeNumber: number;
  @Column({ type: 'integer', default: 0 }) tries: number;

  /** 1 if an operator handed out the code, which then proves no email */
  @Column({ name: 'handed_out', type: 'integer', default: 0 }) handedOut: number;
  @Column({ name: 'expires_at', type: 'bigint', default: 0 }) expiresAt: number;
  @Column({ name: 'purge_at', type: 'bigint' }) purgeAt: number;

  /** the user for whom an operator issued the code; null if the subject names the user */
  @Column({ name: 'user_id', type: 'varchar', length: 36, nullable: true }) userId: string | null;
}

export type EmailCodePurposes = readonly [EmailCodePurpose, EmailCodePurpose?, EmailCodePurpose?];

/** Each has a row of its own, so that no new code replaces or extends a code of another kind. */
export const RESETS = ['password_reset', 'handed_out_reset', 'password_setup'] as const;

type EmailCodeKey = Pick<EmailCode, 'purpose' | 'subject'>;

type NewEmailCode = EmailCodeKey &
  Pick<EmailCode, 'email'> &
  Partial<Pick<EmailCode, 'authEpoch' | 'userId' | 'handedOut' | 'expiresAt'>>;

export const EMAIL_CODE_TTL_MS = 15 * 60_000;
const PURGE_AFTER_MS = 3_600_000;

@Injectable()
export class EmailCodesRepository {
  constructor(@InjectRepository(EmailCode) private readonly codes: Repository<EmailCode>) {}

  /** Keeps a row even if no code is issued, so that later writes do not reveal it by their time. */
  async keep(tx: Transaction, key: EmailCodeKey): Promise<void> {
    const purgeAt = Date.now() + PURGE_AFTER_MS;
    const row = { ...key, email: key.subject, purgeAt };
    await this.updateOrInsert(tx, 'purge_at = ?', [purgeAt], row);
  }

  async issue(tx: Transaction, code: NewEmailCode): Promise<EmailCode> {
    const { purpose, subject, email, authEpoch = null, userId = null } = code;
    const now = Date.now();
    const { expiresAt = now + EMAIL_CODE_TTL_MS, handedOut = userId === null ? 0 : 1 } = code;
    const purgeAt = Math.max(now + PURGE_AFTER_MS, expiresAt);
    await this.updateOrInsert(
      tx,
      `code_number = code_number + 1, tries = 0, email = ?, auth_epoch = ?, handed_out = ?, user_id = ?,
        expires_at = ?, purge_at = ?`,
      [email, authEpoch, handedOut, userId, expiresAt, purgeAt],
      { purpose, subject, email, authEpoch, handedOut, userId, expiresAt, purgeAt, codeNumber: 1 },
    );
    const [issued] = await this.find(tx, [purpose], subject);
    return issued!;
  }

  /** Does the same work whether or not the row has a code. */
  async countTry(tx: Transaction, purposes: EmailCodePurposes, subject: string): Promise<void> {
    const sql = 'UPDATE email_codes SET tries = tries + 1 WHERE purpose IN (?, ?, ?) AND subject = ?';
    await tx.write(sql, [...threeOf(purposes), subject]);
  }

  find(tx: Transaction, purposes: EmailCodePurposes, subject: string): Promise<EmailCode[]> {
    const sql = `SELECT id, purpose, subject, email, auth_epoch AS authEpoch, code_number AS codeNumber, tries,
        handed_out AS handedOut, user_id AS userId, expires_at AS expiresAt
      FROM email_codes WHERE purpose IN (?, ?, ?) AND subject = ?`;
    return tx.read<EmailCode>(sql, [...threeOf(purposes), subject]);
  }

  isCurrent(id: string, codeNumber: number): Promise<boolean> {
    return this.codes.existsBy({ id, codeNumber });
  }

  /** Returns true for the one request that deletes the row, which consumes the code. */
  async use(tx: Transaction, { id, codeNumber }: EmailCode): Promise<boolean> {
    const sql = 'DELETE FROM email_codes WHERE id = ? AND code_number = ?';
    return (await tx.write(sql, [id, codeNumber])) === 1;
  }

  async void(tx: Transaction, { purpose, subject }: EmailCodeKey): Promise<void> {
    await tx.of(this.codes).delete({ purpose, subject });
  }

  async voidResets(tx: Transaction, email: string): Promise<void> {
    for (const purpose of RESETS) await this.void(tx, { purpose, subject: email });
  }

  async voidAll(tx: Transaction, { id, email }: { id: string; email: string }): Promise<void> {
    await this.voidResets(tx, email);
    await this.void(tx, { purpose: 'email_verification', subject: id });
    await this.void(tx, { purpose: 'email_change', subject: id });
  }

  async findOld(now: number, limit: number): Promise<string[]> {
    const sql = 'SELECT id FROM email_codes WHERE purge_at < ? ORDER BY purge_at LIMIT ?';
    return idsOf(await this.codes.query(sql, [now, limit]));
  }

  async purge(ids: readonly string[]): Promise<void> {
    await this.codes.delete({ id: In(ids) });
  }

  /** A concurrent request may insert the row first. */
  private async updateOrInsert(
    tx: Transaction,
    changes: string,
    values: unknown[],
    row: EmailCodeKey & Partial<EmailCode>,
  ): Promise<void> {
    const sql = `UPDATE email_codes SET ${changes} WHERE purpose = ? AND subject = ?`;
    const update = (): Promise<number> => tx.write(sql, [...values, row.purpose, row.subject]);
    if ((await update()) === 1) return;
    try {
      await tx.of(this.codes).insert({ id: newEntityId(), ...row });
    } catch (error) {
      if (!isUniqueViolation(error, EMAIL_CODES_SUBJECT_KEY)) throw error;
      await update();
    }
  }
}

function threeOf([first, second = first, third = first]: EmailCodePurposes): EmailCodePurpose[] {
  return [first, second, third];
}

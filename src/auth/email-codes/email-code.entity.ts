import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/transactions/database-errors.js';

export const EMAIL_CODES_SUBJECT_KEY: UniqueKey = {
  name: 'email_codes_subject_key',
  columns: 'email_codes.purpose, email_codes.subject',
};

/** Invitations have only a placeholder row here, by email: their codes are derived from rows of their own. */
export type EmailCodePurpose =
  | 'password_reset'
  | 'handed_out_reset'
  | 'email_verification'
  | 'email_change'
  | 'invitation';

/** A code to type is stored nowhere: it is derived from this row and the signing keys. Times are epoch milliseconds. */
@Entity('email_codes')
@Index(EMAIL_CODES_SUBJECT_KEY.name, ['purpose', 'subject'], { unique: true })
@Index('email_codes_purge_at_idx', ['purgeAt'])
export class EmailCode {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: 24 })
  purpose: EmailCodePurpose;

  /** the email for a reset, which may have no account; otherwise the user's id */
  @Column({ type: 'varchar', length: 254 })
  subject: string;

  /** normalized email that the code proves */
  @Column({ type: 'varchar', length: 254 })
  email: string;

  /** epoch of the user when they asked for the code or an operator issued it, which is void in any other */
  @Column({ name: 'auth_epoch', type: 'integer', nullable: true })
  authEpoch: number | null;

  /** raised by each new code, which voids the one before; 0 means that there is none */
  @Column({ name: 'code_number', type: 'integer', default: 0 })
  codeNumber: number;

  @Column({ type: 'integer', default: 0 })
  tries: number;

  /** 1 if an operator told the code, which then proves no email */
  @Column({ name: 'handed_out', type: 'integer', default: 0 })
  handedOut: number;

  @Column({ name: 'expires_at', type: 'bigint', default: 0 })
  expiresAt: number;

  @Column({ name: 'purge_at', type: 'bigint' })
  purgeAt: number;

  /** the user for whom an operator issued the code, which is void for any other; null where the subject names them */
  @Column({ name: 'user_id', type: 'varchar', length: 36, nullable: true })
  userId: string | null;
}

import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { UniqueKey } from '../../database/database-errors.js';

export const MAIL_CODES_SUBJECT_KEY: UniqueKey = {
  name: 'mail_codes_subject_key',
  columns: 'mail_codes.purpose, mail_codes.subject',
};

/** Of invitations there is only the place, by e-mail: their codes are derived from rows of their own. */
export type MailCodePurpose = 'password_reset' | 'email_verification' | 'email_change' | 'invitation';

/**
 * What a code to type is for. The code itself is stored nowhere: it is derived from this row and the signing keys.
 * Times are epoch milliseconds.
 */
@Entity('mail_codes')
@Index(MAIL_CODES_SUBJECT_KEY.name, ['purpose', 'subject'], { unique: true })
@Index('mail_codes_purge_at_idx', ['purgeAt'])
export class MailCode {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: 24 })
  purpose: MailCodePurpose;

  /** whose: the e-mail for a reset, which may have no account, else the user's id */
  @Column({ type: 'varchar', length: 254 })
  subject: string;

  /** canonical: what the code proves */
  @Column({ type: 'varchar', length: 254 })
  email: string;

  /** of the user when the code was asked for; in another epoch it is void */
  @Column({ name: 'auth_epoch', type: 'integer', nullable: true })
  authEpoch: number | null;

  /** raised by each new code, which voids the one before; 0: there is none */
  @Column({ name: 'code_number', type: 'integer', default: 0 })
  codeNumber: number;

  /** of this code */
  @Column({ type: 'integer', default: 0 })
  tries: number;

  /** 1: an operator told the code, which proves no e-mail */
  @Column({ name: 'handed_out', type: 'integer', default: 0 })
  handedOut: number;

  @Column({ name: 'expires_at', type: 'bigint', default: 0 })
  expiresAt: number;

  @Column({ name: 'purge_at', type: 'bigint' })
  purgeAt: number;
}

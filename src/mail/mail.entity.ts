import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

export const GROUP_OF_KIND = {
  password_reset: 'ownCode',
  password_changed: 'notice',
  password_setup: 'setup',
  reset_code_issued: 'notice',
  second_factor_enabled: 'notice',
  second_factor_removed: 'notice',
  second_factor_guessed: 'notice',
  recovery_codes_renewed: 'notice',
  recovery_code_used: 'notice',
  email_verification: 'ownCode',
  email_change: 'emailChange',
  email_change_asked: 'notice',
  email_changed: 'notice',
  invitation: 'invitation',
  password_breached: 'notice',
  new_sign_in: 'newSignIn',
  key_created: 'notice',
  key_reported: 'notice',
  identity_linked: 'notice',
} as const;

export type MailKind = keyof typeof GROUP_OF_KIND;

export const MAIL_KINDS = Object.keys(GROUP_OF_KIND) as MailKind[];

export type NoticeKind = {
  [Kind in MailKind]: (typeof GROUP_OF_KIND)[Kind] extends 'notice' ? Kind : never;
}[MailKind];

export function isNotice(kind: MailKind): kind is NoticeKind {
  return GROUP_OF_KIND[kind] === 'notice';
}

/** Accounts drops an email that is obsolete when its turn comes. The row stays, because the limits count it. */
export const MAIL_STATES = ['waiting', 'sent', 'failed', 'dropped'] as const;

export type MailState = (typeof MAIL_STATES)[number];

export const MAIL_PRIORITIES = [0, 1, 2] as const;

export type MailPriority = (typeof MAIL_PRIORITIES)[number];

@Entity('mails')
@Index('mails_state_priority_next_attempt_at_turn_at_idx', ['state', 'priority', 'nextAttemptAt', 'turnAt'])
@Index('mails_state_id_idx', ['state', 'id'])
@Index('mails_recipient_id_idx', ['recipient', 'id'])
@Index('mails_org_id_id_idx', ['orgId', 'id'])
@Index('mails_sender_id_id_idx', ['senderId', 'id'])
export class Mail {
  @PrimaryColumn({ type: 'varchar', length: 36 }) id: string;
  @Column({ type: 'varchar', length: 24 }) kind: MailKind;
  @Column({ type: 'varchar', length: 254 }) recipient: string;
  @Column({ name: 'code_id', type: 'varchar', length: 36, nullable: true }) codeId: string | null;
  @Column({ name: 'code_number', type: 'integer', nullable: true }) codeNumber: number | null;
  @Column({ name: 'org_id', type: 'varchar', length: 36, nullable: true }) orgId: string | null;

  /** id of the user, or key of the IP address, that requested the email */
  @Column({ name: 'sender_id', type: 'varchar', length: 36, nullable: true }) senderId: string | null;
  @Column({ type: 'varchar', length: 8 }) state: MailState;
  @Column({ name: 'created_at', type: 'bigint' }) createdAt: number;

  /** 0 before the first attempt; the end of the lease while a process sends the email */
  @Column({ name: 'next_attempt_at', type: 'bigint' }) nextAttemptAt: number;
  @Column({ type: 'integer', default: 0 }) priority: MailPriority;

  /** Among untried emails of one priority, the least goes first. */
  @Column({ name: 'turn_at', type: 'bigint', default: 0 }) turnAt: number;
  @Column({ type: 'integer', default: 0 }) attempts: number;
  @Column({ name: 'expires_at', type: 'bigint', nullable: true }) expiresAt: number | null;
  @Column({ name: 'ended_at', type: 'bigint', nullable: true }) endedAt: number | null;

  /** codes only, because the text of a mail server may be anything */
  @Column({ name: 'last_error', type: 'varchar', length: 100, nullable: true }) lastError: string | null;

  /** JSON of what the text says in addition to the code, such as the place of a new sign-in or the name of an API key */
  @Column({ type: 'varchar', length: 500, nullable: true }) details: string | null;
}

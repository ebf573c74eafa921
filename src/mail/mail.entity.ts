import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What a mail is about; the texts are chosen when it is sent. */
export const MAIL_KINDS = [
  'password_reset',
  'password_changed',
  'email_verification',
  'email_change',
  'email_change_asked',
  'email_changed',
  'invitation',
] as const;

export type MailKind = (typeof MAIL_KINDS)[number];

/** `dropped`: nobody was to get it any more when its turn came. The row stays, as requests are counted. */
export const MAIL_STATES = ['waiting', 'sent', 'failed', 'dropped'] as const;

export type MailState = (typeof MAIL_STATES)[number];

/** The classes in which mails wait, from first to last. */
export const MAIL_PRIORITIES = [0, 1, 2] as const;

export type MailPriority = (typeof MAIL_PRIORITIES)[number];

/** A mail in the outbox, written in the transaction that wants it. It holds no code. Times are epoch milliseconds. */
@Entity('mails')
@Index('mails_state_priority_next_attempt_at_turn_at_idx', ['state', 'priority', 'nextAttemptAt', 'turnAt'])
@Index('mails_state_id_idx', ['state', 'id'])
@Index('mails_recipient_id_idx', ['recipient', 'id'])
@Index('mails_org_id_id_idx', ['orgId', 'id'])
@Index('mails_sender_id_id_idx', ['senderId', 'id'])
export class Mail {
  /** UUIDv7, and the left part of the Message-ID */
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id: string;

  @Column({ type: 'varchar', length: 24 })
  kind: MailKind;

  /** canonical */
  @Column({ type: 'varchar', length: 254 })
  recipient: string;

  /** of the row of the code to mail; null: none, or not made yet */
  @Column({ name: 'code_id', type: 'varchar', length: 36, nullable: true })
  codeId: string | null;

  @Column({ name: 'code_number', type: 'integer', nullable: true })
  codeNumber: number | null;

  /** of an invitation: into which organization; null: of other mails */
  @Column({ name: 'org_id', type: 'varchar', length: 36, nullable: true })
  orgId: string | null;

  /** who asked for it: a user's id, or the key of a client's address where nobody is signed in */
  @Column({ name: 'sender_id', type: 'varchar', length: 36, nullable: true })
  senderId: string | null;

  @Column({ type: 'varchar', length: 8 })
  state: MailState;

  @Column({ name: 'created_at', type: 'bigint' })
  createdAt: number;

  /** 0: never tried, so it is due when its turn comes; while a process sends it: when its lease ends */
  @Column({ name: 'next_attempt_at', type: 'bigint' })
  nextAttemptAt: number;

  /** its class: a lower one goes first */
  @Column({ type: 'integer', default: 0 })
  priority: MailPriority;

  /** its place among those of its class that were never tried: the least goes first */
  @Column({ name: 'turn_at', type: 'bigint', default: 0 })
  turnAt: number;

  /** begun */
  @Column({ type: 'integer', default: 0 })
  attempts: number;

  /** it is not sent after this time */
  @Column({ name: 'expires_at', type: 'bigint', nullable: true })
  expiresAt: number | null;

  /** sent, or given up */
  @Column({ name: 'ended_at', type: 'bigint', nullable: true })
  endedAt: number | null;

  /** codes of the last failure: never what a server said, which may be anything */
  @Column({ name: 'last_error', type: 'varchar', length: 100, nullable: true })
  lastError: string | null;
}

import { ApiProperty } from '@nestjs/swagger';
import { MAIL_KINDS, MAIL_STATES, type MailKind, type MailState } from '../mail/mail.entity.js';
import { NextCursor } from './operation.decorators.js';

const RESET_MAIL = {
  id: '019a8f3e-b072-7e65-8081-0c2d4e6f7081',
  kind: 'password_reset',
  recipient: 'ada@example.com',
  state: 'failed',
  attempts: 1,
  createdAt: '2026-11-22T09:00:00.000Z',
  nextAttemptAt: null,
  expiresAt: '2026-11-22T09:15:00.000Z',
  endedAt: '2026-11-22T09:00:01.000Z',
  lastError: 'EENVELOPE 550',
};

export class ListedMail {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ enum: MAIL_KINDS, enumName: 'MailKind' })
  kind: MailKind;

  @ApiProperty({ format: 'email', maxLength: 254 })
  recipient: string;

  @ApiProperty({ enum: MAIL_STATES, enumName: 'MailState' })
  state: MailState;

  /** attempts to send the mail, the current one included */
  @ApiProperty({ type: 'integer', minimum: 0 })
  attempts: number;

  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  /** null if the mail does not wait */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  nextAttemptAt: string | null;

  /** time after which the mail is not sent, since its code is void; null if it holds none */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expiresAt: string | null;

  /** null if the mail waits */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  endedAt: string | null;

  /** codes of the last failure; null if there was none */
  @ApiProperty({ type: String, minLength: 1, maxLength: 100, nullable: true })
  lastError: string | null;
}

export class MailsResult {
  @ApiProperty({ type: [ListedMail], example: [RESET_MAIL] })
  mails: ListedMail[];

  @NextCursor('MC4wMTlhOGYzZS1iMDcyLTdlNjUtODA4MS0wYzJkNGU2ZjcwODE')
  nextCursor?: string;
}

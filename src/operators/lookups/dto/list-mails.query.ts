import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { MAIL_STATES, type MailState } from '../../../mail/mail.entity.js';
import { DEFAULT_LIMIT } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';
import { canonicalEmail } from '../../../users/email-address.js';

export class ListMailsQuery {
  @ApiProperty({
    enum: MAIL_STATES,
    enumName: 'MailState',
    required: false,
    description: 'state of the mails to list; by default those that wait and those that failed',
  })
  @ValidateIf((query: ListMailsQuery) => query.state !== undefined)
  @IsIn(MAIL_STATES, { message: 'must be waiting, sent, failed or dropped' })
  state?: MailState;

  @ApiProperty({
    required: false,
    format: 'email',
    maxLength: 254,
    description: 'e-mail to which the mails are addressed',
  })
  // Give null for refused text, because an optional property may be undefined.
  @Transform(({ value }: { value: unknown }) => canonicalEmail(value) ?? null)
  @ValidateIf((query: ListMailsQuery) => query.to !== undefined)
  @ValidateBy({
    name: 'isEmailAddress',
    validator: { validate: (email) => email !== null, defaultMessage: () => 'must be an e-mail address' },
  })
  to?: string;

  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of mails on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}

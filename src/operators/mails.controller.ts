import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Operators } from '../access/access.decorators.js';
import { GatedRead } from '../http/read-gate.js';
import { ApiPage, EntityIdPipe, OK, OkResponse } from '../http/fields.js';
import type { MailState } from '../mail/mail.entity.js';
import { MailsRepository } from '../mail/mails.repository.js';
import { cutPage, encodeCursor, limitOf, positionOf } from '../http/pages.js';
import { Change, Operation, type OperatorChange } from './operated-changes.js';
import { ListMailsQuery } from './operators.requests.js';
import { EmailsResponse } from './operators.responses.js';
import { OperatedMails } from './operated-mails.js';
import { mailView } from './views.js';

/** The states that need an operator's attention. */
const DEFAULT_STATES: readonly MailState[] = ['waiting', 'failed', 'dropped'];

@Controller('api/operators/mails')
export class OperatorMailsController {
  constructor(
    private readonly mails: MailsRepository,
    private readonly operated: OperatedMails,
  ) {}

  /**
   * List emails
   *
   * @remarks Returns the emails that wait, failed or were dropped, latest first, in pages, without their texts and
   * codes.
   *
   * Emails are kept for 7 days.
   */
  @Get()
  @Operators()
  @ApiPage(EmailsResponse)
  @GatedRead()
  async adminListEmails(@Query() query: ListMailsQuery): Promise<EmailsResponse> {
    const { state, to: recipient } = query;
    const states = state === undefined ? DEFAULT_STATES : [state];
    const limit = limitOf(query);
    const rows = await this.mails.findLatest({ states, recipient }, limit + 1, positionOf(query)?.id);
    const { page, next } = cutPage(rows, limit, ({ id }) => encodeCursor({ order: 0, id }));
    return { mails: page.map(mailView), ...next };
  }

  /**
   * Send an email now
   *
   * @remarks Sends an email that waits or has failed.
   *
   * An email is never sent if its code has expired or is void, or if its invitation has ended.
   */
  @Post(':mailId/retry')
  @HttpCode(200)
  @Operation('mail_not_found', 'mail_ended', 'mail_obsolete')
  @ApiParam({ name: 'mailId', type: String, format: 'uuid', description: 'Id of the email.' })
  adminRetryEmail(
    @Param('mailId', EntityIdPipe) mailId: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.operated.retry(mailId, actor).then(() => OK);
  }
}

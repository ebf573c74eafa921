import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { SignedInOperator } from '../access/actor.js';
import { CurrentOperator } from '../http/current-operator.decorator.js';
import { EntityIdPipe } from '../http/entity-id.pipe.js';
import { OK } from '../http/ok.js';
import { OkResult } from '../http/ok.responses.js';
import { ApiProblems } from '../openapi/decorators.js';
import { asProblems } from './as-problems.js';
import { ReasonRequest } from './dto/reason.request.js';
import { OperatedMails } from './operated-mails.js';
import { Operation } from './operation.decorators.js';

@ApiTags('Operators')
@Controller('api/operators/mails/:mailId')
export class MailOperationsController {
  constructor(private readonly mails: OperatedMails) {}

  /**
   * Send a mail now
   *
   * @remarks The mail waits or has failed. One that is of no use any more is never sent: its code has expired
   * or is void, or its invitation has ended.
   */
  @Post('retry')
  @HttpCode(200)
  @Operation()
  @ApiParam({ name: 'mailId', type: String, format: 'uuid', description: 'id of the mail' })
  @ApiProblems('mail_not_found', 'mail_ended', 'mail_obsolete')
  retryMail(
    @CurrentOperator() operator: SignedInOperator,
    @Param('mailId', EntityIdPipe) mailId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return asProblems(this.mails.retry(mailId, { ...operator, reason })).then(() => OK);
  }
}

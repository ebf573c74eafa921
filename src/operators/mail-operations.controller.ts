import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { SignedInOperator } from '../access/actor.js';
import { CurrentOperator } from '../http/current-operator.decorator.js';
import { EntityIdPipe } from '../http/entity-id.pipe.js';
import { OK } from '../http/ok.js';
import { OkResult } from '../http/ok.responses.js';
import { MailRetries } from '../mail/mail-retries.js';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { asProblems } from './as-problems.js';
import { ReasonRequest } from './dto/reason.request.js';
import { Operation } from './operation.decorators.js';

@ApiTags('Operators')
@Controller('api/operators/mails/:mailId')
export class MailOperationsController {
  constructor(private readonly mails: MailRetries) {}

  /**
   * Send a mail now
   *
   * @remarks The mail waits or has failed. One whose code has expired is never sent: its recipient has to request another.
   */
  @Post('retry')
  @HttpCode(200)
  @Operation()
  @ApiParam({ name: 'mailId', type: String, format: 'uuid', description: 'id of the mail' })
  @ApiProblems('mail_not_found', 'mail_ended')
  retryMail(
    @CurrentOperator() operator: SignedInOperator,
    @Param('mailId', EntityIdPipe) mailId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return asProblems(this.mails.retryOne(mailId, { ...operator, reason })).then(() => OK);
  }
}

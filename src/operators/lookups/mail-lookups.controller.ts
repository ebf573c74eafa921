import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operators } from '../../access/access.decorators.js';
import { ApiPage } from '../../http/page-query.decorators.js';
import { type LinkNextPage, NextPage } from '../../http/pages.js';
import { ListMailsQuery } from './dto/list-mails.query.js';
import { MailsResult } from './dto/mail-lookup.responses.js';
import { MailLookups } from './mail-lookups.js';

@ApiTags('Operators')
@Controller('api/operators/mails')
export class MailLookupsController {
  constructor(private readonly mails: MailLookups) {}

  /**
   * List mails
   *
   * @remarks Lists mails that wait, failed or were dropped, latest first, in pages, without their texts and codes. Mails
   * are kept for 7 days.
   */
  @Get()
  @Operators()
  @ApiPage(MailsResult)
  listMails(@Query() query: ListMailsQuery, @NextPage() linkNextPage: LinkNextPage): Promise<MailsResult> {
    return this.mails.list(query, linkNextPage);
  }
}

import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operators } from '../../access/access.decorators.js';
import { ApiPage } from '../../http/page-query.decorators.js';
import { type LinkNextPage, NextPage } from '../../http/pages.js';
import { ListRecordQuery } from './dto/list-record.query.js';
import { RecordResult } from './dto/record-lookup.responses.js';
import { RecordLookups } from './record-lookups.js';

@ApiTags('Operators')
@Controller('api/operators/events')
export class RecordLookupsController {
  constructor(private readonly record: RecordLookups) {}

  /**
   * Read the record of changes
   *
   * @remarks Lists who changed what, latest first, in pages, with the addresses of clients and the reasons that operators
   * gave. `userId` and `orgId` may be ids of what was deleted: the record still knows it.
   */
  @Get()
  @Operators()
  @ApiPage(RecordResult)
  listRecord(@Query() query: ListRecordQuery, @NextPage() linkNextPage: LinkNextPage): Promise<RecordResult> {
    return this.record.list(query, linkNextPage);
  }
}

import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { MinRole } from '../access/access.decorators.js';
import { ApiPage } from '../pagination/api-page.decorator.js';
import { type LinkNextPage, NextPage } from '../pagination/next-page.decorator.js';
import { RecordService } from './events.service.js';
import { OrgEventsResult } from './events.responses.js';
import { ListOrgEventsQuery } from './events.query.js';

@ApiTags('Organizations')
@Controller('api/orgs/:orgId/events')
export class OrgEventsController {
  constructor(private readonly record: RecordService) {}

  /**
   * Read the record of an organization
   *
   * @remarks Lists who changed what, latest first. Requires the role admin or owner.
   */
  @Get()
  @MinRole('admin')
  @ApiPage(OrgEventsResult)
  listOrgEvents(
    @Param('orgId') orgId: string,
    @Query() query: ListOrgEventsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OrgEventsResult> {
    return this.record.listOfOrg(orgId, query, linkNextPage);
  }
}

import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { MinRole } from '../access/access.decorators.js';
import { type LinkNextPage, NextPage } from '../pagination/next-page.decorator.js';
import { ApiProblems, invalidFields } from '../openapi/api-problems.decorator.js';
import { LINK_HEADER } from '../openapi/response-headers.js';
import { AuditService } from './audit.service.js';
import { OrgEventsResult } from './dto/event.responses.js';
import { ListOrgEventsQuery } from './dto/list-events.query.js';

@ApiTags('Organizations')
@Controller('api/orgs/:orgId/events')
export class OrgEventsController {
  constructor(private readonly audit: AuditService) {}

  /**
   * Read the record of an organization
   *
   * @remarks Who changed what, the latest first. For admins and owners.
   */
  @Get()
  @MinRole('admin')
  @ApiOkResponse({ type: OrgEventsResult, headers: LINK_HEADER })
  @ApiProblems(
    invalidFields({ limit: 'must be a whole number from 1 to 1000' }),
    'unauthorized',
    'invalid_token',
    'org_not_found',
    'not_a_member',
    'insufficient_role',
  )
  listOrgEvents(
    @Param('orgId') orgId: string,
    @Query() query: ListOrgEventsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OrgEventsResult> {
    return this.audit.listOfOrg(orgId, query, linkNextPage);
  }
}

import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ApiOrgId, Operators } from '../../access/access.decorators.js';
import { EntityIdPipe } from '../../http/entity-id.pipe.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { ApiPage } from '../../http/page-query.decorators.js';
import { type LinkNextPage, NextPage } from '../../http/pages.js';
import { ListOrgMembersQuery } from './dto/list-org-members.query.js';
import { ListOrgsQuery } from './dto/list-orgs.query.js';
import { OrgMembersResult, OrgListResult, ShownOrgResult } from './dto/org-lookup.responses.js';
import { OrgLookups } from './org-lookups.js';

@ApiTags('Operators')
@Controller('api/operators/orgs')
export class OrgLookupsController {
  constructor(private readonly orgs: OrgLookups) {}

  /**
   * List organizations
   *
   * @remarks Lists all organizations in order of their names, deleted ones too, in pages. `search` finds those whose
   * name begins with it.
   */
  @Get()
  @Operators()
  @ApiPage(OrgListResult)
  listOrgs(@Query() query: ListOrgsQuery, @NextPage() linkNextPage: LinkNextPage): Promise<OrgListResult> {
    return this.orgs.list(query, linkNextPage);
  }

  /**
   * Read any organization
   *
   * @remarks Counts the members of each role, of a deleted organization too.
   */
  @Get(':orgId')
  @Operators()
  @ApiOrgId()
  @ApiProblems('org_not_found')
  getAnyOrg(@Param('orgId', EntityIdPipe) orgId: string): Promise<ShownOrgResult> {
    return this.orgs.show(orgId);
  }

  /**
   * List the members of any organization
   *
   * @remarks Lists the members in order of their e-mails, in pages, of a deleted organization too. `search` finds
   * those whose e-mail begins with it.
   */
  @Get(':orgId/members')
  @Operators()
  @ApiOrgId()
  @ApiPage(OrgMembersResult)
  @ApiProblems('org_not_found')
  listAnyMembers(
    @Param('orgId', EntityIdPipe) orgId: string,
    @Query() query: ListOrgMembersQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OrgMembersResult> {
    return this.orgs.listMembers(orgId, query, linkNextPage);
  }
}

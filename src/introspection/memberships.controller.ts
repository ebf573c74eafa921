import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AllowedServices } from '../access/access.decorators.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { ApiPage } from '../http/fields.js';
import { type LinkNextPage, NextPage } from '../http/pages.js';
import { ListMembershipsQuery, ONE_IS_NEEDED } from './memberships.requests.js';
import { MembershipListResult } from './memberships.responses.js';
import { MembershipsService } from './memberships.service.js';

@ApiTags('Services')
@Controller('api/memberships')
export class MembershipsController {
  constructor(private readonly memberships: MembershipsService) {}

  /**
   * List memberships
   *
   * @remarks Lists the memberships in an organization or of a user in order of joining, in pages. With both ids the
   * list has at most one. It leaves out disabled users and deleted organizations.
   */
  @Get()
  @AllowedServices('memberships')
  @ApiPage(MembershipListResult)
  @ApiProblems(invalidFields({ orgId: ONE_IS_NEEDED }))
  listMemberships(
    @Query() query: ListMembershipsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<MembershipListResult> {
    return this.memberships.list(query, linkNextPage);
  }
}

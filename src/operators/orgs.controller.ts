import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOrgId, Operators } from '../access/access.decorators.js';
import type { SignedInOperator } from '../access/principal.js';
import { CurrentOperator } from '../http/request-origin.js';
import { ApiPage, EntityIdPipe, OK, OkResponse } from '../http/fields.js';
import { ApiProblems } from '../openapi/decorators.js';
import { OrgDeletionResponse, OrgResponse } from '../orgs/members/members.responses.js';
import {
  decodeNameCursor,
  encodeNameCursor,
  filteredPage,
  limitOf,
  linkNext,
  type LinkNextPage,
  NextPage,
} from '../http/pages.js';
import { MemberListsService } from '../orgs/members/member-lists.service.js';
import { MembersService } from '../orgs/members/members.service.js';
import { OrgsService } from '../orgs/orgs.service.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import type { Org } from '../orgs/state/org.entity.js';
import { type ListedOrg, OrgsRepository } from '../orgs/state/orgs.repository.js';
import { NO_ENABLED_OWNER } from '../orgs/state/orgs.errors.js';
import {
  AccountOperation,
  ReasonWithForceRequest,
  ListOrgMembersQuery,
  ListOrgsQuery,
  AddOrgOwnerRequest,
  Operation,
  ReasonRequest,
} from './operators.requests.js';
import { OrgsResponse, OrgMembersResponse, AdminOrgResponse } from './operators.responses.js';
import { OperatedUsers } from './users.controller.js';
import { orgView } from './views.js';
import { Problem } from '../problems/problem.js';

@Controller('api/operators/orgs')
export class OperatorOrgsController {
  constructor(
    private readonly rows: OrgsRepository,
    private readonly memberRows: MembersRepository,
    private readonly memberLists: MemberListsService,
    private readonly members: MembersService,
    private readonly orgs: OrgsService,
    private readonly users: OperatedUsers,
  ) {}

  /**
   * List organizations
   *
   * @remarks Lists all organizations in order of their names, deleted ones too, in pages. `search` finds those whose
   * name begins with it.
   */
  @Get()
  @Operators()
  @ApiPage(OrgsResponse)
  async adminListOrgs(
    @Query() query: ListOrgsQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OrgsResponse> {
    const { search: prefix = '', status, cursor } = query;
    const start = cursor === undefined ? undefined : decodeNameCursor(cursor);
    const isWanted = ({ deletedAt }: ListedOrg): boolean =>
      status === undefined || (deletedAt !== null) === (status === 'deleted');
    const { rows, last } = await filteredPage({ limit: limitOf(query), isWanted }, (size, after) =>
      this.rows.findPage({ prefix, after: after ?? start }, size, status === 'deleted'),
    );
    return { orgs: rows.map(orgView), ...linkNext(last && encodeNameCursor(last), linkNextPage) };
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
  async adminGetOrg(@Param('orgId', EntityIdPipe) orgId: string): Promise<AdminOrgResponse> {
    const org = await this.find(orgId);
    const counts = { owner: 0, admin: 0, member: 0 };
    for (const { role, members } of await this.memberRows.countByRole(orgId)) counts[role] = members;
    return { org: { ...orgView(org), counts } };
  }

  /**
   * List the members of any organization
   *
   * @remarks Lists the members in order of their emails, in pages, of a deleted organization too. `search` finds
   * those whose email begins with it.
   */
  @Get(':orgId/members')
  @Operators()
  @ApiOrgId()
  @ApiPage(OrgMembersResponse)
  @ApiProblems('org_not_found')
  async adminListOrgMembers(
    @Param('orgId', EntityIdPipe) orgId: string,
    @Query() query: ListOrgMembersQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<OrgMembersResponse> {
    const { id } = await this.find(orgId);
    return this.memberLists.search(id, query, linkNextPage);
  }

  /**
   * Make somebody an owner of an organization
   *
   * @remarks Other owners stay. Somebody who is no member is refused, and added with `force`.
   */
  @Post(':orgId/owners')
  @HttpCode(200)
  @AccountOperation('org_not_found', 'member_not_found', 'member_disabled', {
    code: 'user_has_too_many_orgs',
    detail: 'The user belongs to 5000 organizations, the maximum for one user.',
  })
  @ApiOrgId()
  async adminAddOrgOwner(
    @CurrentOperator() operator: SignedInOperator,
    @Param('orgId', EntityIdPipe) orgId: string,
    @Body() { userId, reason, force = false }: AddOrgOwnerRequest,
  ): Promise<OkResponse> {
    await this.users.requireChangeable(userId, operator);
    await this.members.makeOwner({ orgId, userId, actor: { ...operator, reason }, force });
    return OK;
  }

  /**
   * Restore a deleted organization as an operator
   *
   * @remarks Restores the organization with the members who still have an account, until its `purgeAt`. One that is not
   * deleted stays as it is. One whose owners are gone or disabled is refused, and restored with `force`.
   */
  @Post(':orgId/restore')
  @HttpCode(200)
  @Operation('org_not_found', { code: 'last_owner', detail: NO_ENABLED_OWNER })
  @ApiOrgId()
  async adminRestoreOrg(
    @CurrentOperator() operator: SignedInOperator,
    @Param('orgId', EntityIdPipe) orgId: string,
    @Body() { reason, force = false }: ReasonWithForceRequest,
  ): Promise<OrgResponse> {
    return { org: await this.orgs.restoreAsOperator(orgId, { ...operator, reason }, force) };
  }

  /**
   * Delete an organization as an operator
   *
   * @remarks Requests for the organization get 404 at once, and its pending invitations are revoked. An owner or an
   * operator can restore it until `purgeAt`. One that is deleted stays as it is.
   */
  @Post(':orgId/delete')
  @HttpCode(200)
  @Operation('org_not_found')
  @ApiOrgId()
  async adminDeleteOrg(
    @CurrentOperator() operator: SignedInOperator,
    @Param('orgId', EntityIdPipe) orgId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OrgDeletionResponse> {
    return this.orgs.deleteAsOperator(orgId, { ...operator, reason });
  }

  private async find(id: string): Promise<Org> {
    const org = await this.rows.find(id);
    if (!org) throw new Problem('org_not_found');
    return org;
  }
}

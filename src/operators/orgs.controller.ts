import { applyDecorators, Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOrgId, Operators } from '../access/access.decorators.js';
import { GatedRead } from '../http/read-gate.js';
import { ApiPage, EntityIdPipe } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { OrgDeletionResponse, OrgResponse } from '../orgs/orgs.responses.js';
import { decodeNameCursor, encodeNameCursor, filteredPage, limitOf } from '../http/pages.js';
import { MembersReader } from '../orgs/members/members-reader.js';
import { MembersService } from '../orgs/members/members.service.js';
import { OperatedOrgs } from '../orgs/operated-orgs.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import type { Org } from '../orgs/state/org.entity.js';
import { type ListedOrg, OrgsRepository } from '../orgs/state/orgs.repository.js';
import { NO_ENABLED_OWNER } from '../orgs/state/orgs.errors.js';
import {
  Change,
  ChangedUser,
  Operation,
  type OperatorChange,
  type UserChange,
  UNKNOWN_USER,
  UserOperation,
} from './operated-changes.js';
import {
  ReasonWithForceRequest,
  ListOrgMembersQuery,
  ListOrgsQuery,
  AddOrgOwnerRequest,
  INVALID_ROLE,
  REASON_NEEDED,
  SetOrgMemberRoleRequest,
} from './operators.requests.js';
import { OrgsResponse, OrgMembersResponse, AdminOrgResponse } from './operators.responses.js';
import { UserChangeResponse } from './users.responses.js';
import { adminMemberView, orgView } from './views.js';
import { timeText } from '../identifiers/text.js';
import { Problem } from '../problems/problem.js';

/** Ownerless organizations are rare. */
const OWNERLESS_READ_SIZE = 500;

const OrgOperation = (...problems: Parameters<typeof Operation>): MethodDecorator =>
  applyDecorators(Operation('org_not_found', ...problems), ApiOrgId());

const MemberOperation = (...problems: Parameters<typeof Operation>): MethodDecorator =>
  applyDecorators(UserOperation('org_not_found', 'member_not_found', 'last_owner', ...problems), ApiOrgId());

@Controller('api/operators/orgs')
export class OperatorOrgsController {
  constructor(
    private readonly rows: OrgsRepository,
    private readonly memberRows: MembersRepository,
    private readonly membersReader: MembersReader,
    private readonly members: MembersService,
    private readonly orgs: OperatedOrgs,
  ) {}

  /**
   * List organizations
   *
   * @remarks Returns all organizations in order of their names, deleted ones included, in pages. With `search`, the
   * pages contain the organizations whose name begins with it. The last page ends with up to 50 others, the newest first,
   * which have it in their name.
   */
  @Get()
  @Operators()
  @ApiPage(OrgsResponse)
  @GatedRead()
  async adminListOrgs(@Query() query: ListOrgsQuery): Promise<OrgsResponse> {
    const { search, status, cursor } = query;
    const prefix = search ?? '';
    const start = cursor === undefined ? undefined : decodeNameCursor(cursor);
    const wanted = new Set<ListedOrg>();
    const filter = {
      limit: limitOf(query),
      isWanted: (org: ListedOrg): boolean => wanted.has(org),
      ...(status === 'ownerless' && { readSize: OWNERLESS_READ_SIZE }),
    };
    const { rows, last } = await filteredPage<ListedOrg>(filter, async (size, after) => {
      const page = await this.rows.findPage({ prefix, after: after ?? start }, size, status === 'deleted');
      for (const org of status ? await this.memberRows.ofStatus(status, page) : page) wanted.add(org);
      return page;
    });
    if (last) return { orgs: rows.map(orgView), nextCursor: encodeNameCursor(last) };
    if (search === undefined) return { orgs: rows.map(orgView) };
    const others = await this.rows.searchNewest(search, status && status === 'deleted');
    const named = status ? await this.memberRows.ofStatus(status, others.rows) : others.rows;
    return { orgs: [...rows, ...named].map(orgView), ...(!others.isComplete && { complete: false }) };
  }

  /**
   * Get an organization as operator
   *
   * @remarks Returns an organization with the number of members of each role. The organization may be deleted.
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
   * List an organization's members
   *
   * @remarks Returns the members in order of their emails, in pages, with whether they are disabled. `search` finds the
   * members whose email begins with it. The organization may be deleted.
   */
  @Get(':orgId/members')
  @Operators()
  @ApiOrgId()
  @ApiPage(OrgMembersResponse)
  @ApiProblems('org_not_found')
  @GatedRead()
  async adminListOrgMembers(
    @Param('orgId', EntityIdPipe) orgId: string,
    @Query() query: ListOrgMembersQuery,
  ): Promise<OrgMembersResponse> {
    const { id } = await this.find(orgId);
    const { members, ...next } = await this.membersReader.search(id, query, { withStatus: true });
    return { members: members.map(adminMemberView), ...next };
  }

  /**
   * Add an owner
   *
   * @remarks Makes a member an owner. The other owners stay.
   *
   * Users who are not members are rejected. With `force` the user is added as owner.
   */
  @Post(':orgId/owners')
  @HttpCode(200)
  @Operation(UNKNOWN_USER, 'operator_protected', 'org_not_found', 'member_not_found', 'member_disabled', {
    code: 'user_has_too_many_orgs',
    detail: 'The user belongs to 500 organizations, the maximum for one user.',
  })
  @ApiOrgId()
  async adminAddOrgOwner(
    @Param('orgId', EntityIdPipe) orgId: string,
    @ChangedUser(AddOrgOwnerRequest) { userId, actor, force, email }: UserChange,
  ): Promise<UserChangeResponse> {
    await this.members.makeOwner({ orgId, userId, actor, force });
    return { ok: true, email };
  }

  /**
   * Set a member's role
   *
   * @remarks Gives a member another role. The only enabled owner stays an owner: add another one first. A disabled user
   * does not become an owner.
   */
  @Post(':orgId/members/:userId/role')
  @HttpCode(200)
  @MemberOperation(invalidFields({ role: INVALID_ROLE, reason: REASON_NEEDED }), 'member_disabled')
  async adminSetOrgMemberRole(
    @Param('orgId', EntityIdPipe) orgId: string,
    @ChangedUser(SetOrgMemberRoleRequest) { userId, actor, email }: UserChange,
    @Body() { role }: SetOrgMemberRoleRequest,
  ): Promise<UserChangeResponse> {
    await this.members.changeRoleByOperator({ orgId, userId, actor }, role);
    return { ok: true, email };
  }

  /**
   * Remove a member as operator
   *
   * @remarks Removes a member from the organization, and revokes the pending invitations by this member. The only
   * enabled owner stays: add another one first.
   *
   * If an organization without an owner loses its last member, it is deleted.
   */
  @Post(':orgId/members/:userId/remove')
  @HttpCode(200)
  @MemberOperation()
  async adminRemoveOrgMember(
    @Param('orgId', EntityIdPipe) orgId: string,
    @ChangedUser() { userId, actor, email }: UserChange,
  ): Promise<UserChangeResponse> {
    await this.members.removeByOperator({ orgId, userId, actor });
    return { ok: true, email };
  }

  /**
   * Restore an organization
   *
   * @remarks Restores a deleted organization with the members who still exist, until its `purgeAt`. An organization
   * that is not deleted stays as it is.
   *
   * An organization whose owners were deleted or disabled is rejected. With `force` it is restored.
   */
  @Post(':orgId/restore')
  @HttpCode(200)
  @OrgOperation({ code: 'last_owner', detail: NO_ENABLED_OWNER })
  async adminRestoreOrg(
    @Param('orgId', EntityIdPipe) orgId: string,
    @Change(ReasonWithForceRequest) { actor, force }: OperatorChange,
  ): Promise<OrgResponse> {
    const { answer } = await this.orgs.restore(orgId, actor, force);
    return answer;
  }

  /**
   * Delete any organization
   *
   * @remarks Deletes an organization and revokes its pending invitations. Requests for it return 404 immediately.
   *
   * An owner or an operator can restore it until `purgeAt`. A deleted organization stays deleted.
   */
  @Post(':orgId/delete')
  @HttpCode(200)
  @OrgOperation()
  async adminDeleteOrg(
    @Param('orgId', EntityIdPipe) orgId: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OrgDeletionResponse> {
    const { answer } = await this.orgs.delete(orgId, actor);
    return { ok: true, purgeAt: timeText(answer.purgeAt) };
  }

  /**
   * Lift the required second factor
   *
   * @remarks Ends the requirement of two-factor authentication in an organization, whose owners may all be suspended by
   * it. The organization may be deleted.
   *
   * An organization without the requirement stays as it is.
   */
  @Post(':orgId/lift-second-factor')
  @HttpCode(200)
  @OrgOperation()
  async adminLiftOrgSecondFactor(
    @Param('orgId', EntityIdPipe) orgId: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OrgResponse> {
    const { answer } = await this.orgs.liftSecondFactor(orgId, actor);
    return answer;
  }

  private async find(id: string): Promise<Org> {
    const org = await this.rows.find(id);
    if (!org) throw new Problem('org_not_found');
    return org;
  }
}

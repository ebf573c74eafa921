import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { ApiOrgId } from '../access/access.decorators.js';
import type { SignedInOperator } from '../access/actor.js';
import { CurrentOperator } from '../http/current-operator.decorator.js';
import { EntityIdPipe } from '../http/entity-id.pipe.js';
import { OkResult } from '../http/ok.responses.js';
import { ApiProblems } from '../openapi/decorators.js';
import { OrgDeletionResult, OrgResult } from '../orgs/orgs.responses.js';
import { NO_ENABLED_OWNER } from '../orgs/owners.errors.js';
import { ForcibleRequest } from './dto/forcible.request.js';
import { MakeOwnerRequest } from './dto/make-owner.request.js';
import { ReasonRequest } from './dto/reason.request.js';
import { AccountOperation, Operation } from './operation.decorators.js';
import { OrgOperations } from './org-operations.js';

@ApiTags('Operators')
@Controller('api/operators/orgs/:orgId')
export class OrgOperationsController {
  constructor(private readonly orgs: OrgOperations) {}

  /**
   * Make somebody an owner of an organization
   *
   * @remarks Other owners stay. Somebody who is no member is refused, and added with `force`.
   */
  @Post('owners')
  @HttpCode(200)
  @AccountOperation()
  @ApiOrgId()
  @ApiProblems('org_not_found', 'member_not_found', 'member_disabled', {
    code: 'user_has_too_many_orgs',
    detail: 'The user belongs to 5000 organizations, the maximum for one user.',
  })
  makeOwner(
    @CurrentOperator() operator: SignedInOperator,
    @Param('orgId', EntityIdPipe) orgId: string,
    @Body() request: MakeOwnerRequest,
  ): Promise<OkResult> {
    return this.orgs.makeOwner(orgId, request, { ...operator, reason: request.reason });
  }

  /**
   * Restore a deleted organization as an operator
   *
   * @remarks Restores the organization with the members who still have an account, until its `purgeAt`. One that is not
   * deleted stays as it is. One whose owners are gone or disabled is refused, and restored with `force`.
   */
  @Post('restore')
  @HttpCode(200)
  @Operation()
  @ApiOrgId()
  @ApiProblems('org_not_found', { code: 'last_owner', detail: NO_ENABLED_OWNER })
  restoreOrgAsOperator(
    @CurrentOperator() operator: SignedInOperator,
    @Param('orgId', EntityIdPipe) orgId: string,
    @Body() { reason, force = false }: ForcibleRequest,
  ): Promise<OrgResult> {
    return this.orgs.restore(orgId, { ...operator, reason }, force);
  }

  /**
   * Delete an organization as an operator
   *
   * @remarks Requests for the organization get 404 at once, and its pending invitations are revoked. An owner or an
   * operator can restore it until `purgeAt`. One that is deleted stays as it is.
   */
  @Post('delete')
  @HttpCode(200)
  @Operation()
  @ApiOrgId()
  @ApiProblems('org_not_found')
  deleteOrgAsOperator(
    @CurrentOperator() operator: SignedInOperator,
    @Param('orgId', EntityIdPipe) orgId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OrgDeletionResult> {
    return this.orgs.delete(orgId, { ...operator, reason });
  }
}

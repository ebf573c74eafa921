import { applyDecorators, Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import type { SignedInOperator } from '../access/principal.js';
import { EmailChanges } from '../accounts/email-changes.js';
import { PasswordSetting } from '../accounts/password-reset.js';
import { SecondFactorRemoval } from '../accounts/second-factor-removal.js';
import { UserDeletion } from '../accounts/user-deletion.js';
import { UserOperations } from '../accounts/user-operations.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { EntityIdPipe, OK, OkResponse } from '../http/fields.js';
import { CurrentOperator } from '../http/request-origin.js';
import { timeText } from '../identifiers/text.js';
import { OrgsRepository } from '../orgs/state/orgs.repository.js';
import type { OrphanedOrg } from '../orgs/state/user-departures.js';
import { AccountOperation, ApiUserId, ReasonWithForceRequest, ReasonRequest } from './operators.requests.js';
import { OperatedUsers } from './users.controller.js';
import { ForcedChangeResponse, ResetCodeResponse } from './users.responses.js';

const ONLY_OWNER = {
  code: 'last_owner',
  extensions: {
    orgs: [{ id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines', hasOtherMembers: true }],
  },
} as const;

const UserOperation = (...problems: Parameters<typeof AccountOperation>): MethodDecorator =>
  applyDecorators(AccountOperation(...problems), ApiUserId());

@Controller('api/operators/users')
export class UserOperationsController {
  constructor(
    private readonly users: OperatedUsers,
    private readonly orgs: OrgsRepository,
    private readonly operations: UserOperations,
    private readonly deletion: UserDeletion,
    private readonly revocation: SessionRevocation,
    private readonly emails: EmailChanges,
    private readonly secondFactors: SecondFactorRemoval,
    private readonly passwords: PasswordSetting,
    private readonly codes: EmailCodes,
  ) {}

  /**
   * Disable an account
   *
   * @remarks Every session ends at its next request, and nobody can log in. The only enabled owner of an organization is
   * refused, and `orgs` names such organizations; with `force` the answer names those that are left without one.
   */
  @Post(':userId/disable')
  @HttpCode(200)
  @UserOperation(ONLY_OWNER)
  async adminDisableUser(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason, force = false }: ReasonWithForceRequest,
  ): Promise<ForcedChangeResponse> {
    await this.users.requireChangeable(userId, operator);
    const actor = { ...operator, reason };
    const orphaned = await this.operations.disable(userId, { actor, force });
    return this.named(force, orphaned);
  }

  /**
   * Enable an account
   *
   * @remarks The user can log in again; ended sessions stay ended. An account that is not disabled stays as it is.
   */
  @Post(':userId/enable')
  @HttpCode(200)
  @UserOperation()
  async adminEnableUser(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResponse> {
    await this.users.requireChangeable(userId, operator);
    await this.operations.enable(userId, { ...operator, reason });
    return OK;
  }

  /**
   * End all sessions of a user
   *
   * @remarks The user is logged out everywhere, at the next request of each session, and can log in again.
   */
  @Post(':userId/end-sessions')
  @HttpCode(200)
  @UserOperation()
  async adminRevokeUserSessions(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResponse> {
    await this.users.requireChangeable(userId, operator);
    await this.revocation.revokeAllOf(userId, { ...operator, reason });
    return OK;
  }

  /**
   * Verify the email of a user
   *
   * @remarks The operator knows that the email is the user's own. One that is verified stays so.
   */
  @Post(':userId/verify-email')
  @HttpCode(200)
  @UserOperation()
  async adminVerifyUserEmail(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResponse> {
    await this.users.requireChangeable(userId, operator);
    await this.emails.verifyByOperator(userId, { ...operator, reason });
    return OK;
  }

  /**
   * Remove the second factor of a user
   *
   * @remarks Helps somebody who has lost it, and whom the operator has recognized: every session ends, the password alone
   * logs in again, and a notice is mailed to the user if the email is verified. An account without a second factor stays
   * as it is. The account of an operator is refused; the command line revokes the grant with the factor.
   */
  @Post(':userId/remove-second-factor')
  @HttpCode(200)
  @UserOperation()
  async adminRemoveUserSecondFactor(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResponse> {
    await this.users.requireChangeable(userId, operator);
    await this.secondFactors.byOperator(userId, { ...operator, reason });
    return OK;
  }

  /**
   * Issue a code for a new password
   *
   * @remarks The answer shows the code once: tell it to the user, who sets a new password with it within 15 minutes. It
   * does not verify the email. A change of the email voids it, and so does the end of all sessions. A notice is mailed to the
   * user if the email is verified.
   */
  @Post(':userId/reset-code')
  @UserOperation('account_disabled')
  async adminIssueResetCode(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<ResetCodeResponse> {
    await this.users.requireChangeable(userId, operator);
    const issued = await this.passwords.issueCode(userId, { ...operator, reason });
    return { code: this.codes.textOf(issued), expiresAt: timeText(issued.expiresAt) };
  }

  /**
   * Delete an account
   *
   * @remarks Deletes the user's memberships, sessions and codes, too; the record keeps only ids. This cannot be undone. The
   * only enabled owner of an organization is refused, and `orgs` names such organizations; with `force` the answer names
   * those that are left without one.
   */
  @Post(':userId/delete')
  @HttpCode(200)
  @UserOperation(ONLY_OWNER)
  async adminDeleteUser(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason, force = false }: ReasonWithForceRequest,
  ): Promise<ForcedChangeResponse> {
    await this.users.requireChangeable(userId, operator);
    const actor = { ...operator, reason };
    const orphaned = await this.deletion.delete(userId, { actor, force });
    return this.named(force, orphaned);
  }

  private async named(force: boolean, orphaned: readonly OrphanedOrg[] = []): Promise<ForcedChangeResponse> {
    return force ? { ok: true, orphanedOrgs: await this.orgs.withNames(orphaned) } : { ok: true };
  }
}

import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SignedInOperator } from '../access/actor.js';
import { CurrentOperator } from '../http/current-operator.decorator.js';
import { EntityIdPipe } from '../http/entity-id.pipe.js';
import { OkResult } from '../http/ok.responses.js';
import { ApiProblems } from '../openapi/decorators.js';
import { ForcibleRequest } from './dto/forcible.request.js';
import { ForcibleResult, ResetCodeResult } from './dto/operations.responses.js';
import { ReasonRequest } from './dto/reason.request.js';
import { AccountOperation, ApiUserId } from './operation.decorators.js';
import { UserOperations } from './user-operations.js';

const ONLY_OWNER = {
  code: 'last_owner',
  extensions: {
    orgs: [{ id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines', hasOtherMembers: true }],
  },
} as const;

@ApiTags('Operators')
@Controller('api/operators/users/:userId')
export class UserOperationsController {
  constructor(private readonly users: UserOperations) {}

  /**
   * Disable an account
   *
   * @remarks Every session ends at its next request, and nobody can log in. The only enabled owner of an organization is
   * refused, and `orgs` names such organizations; with `force` the answer names those that are left without one.
   */
  @Post('disable')
  @HttpCode(200)
  @AccountOperation()
  @ApiUserId()
  @ApiProblems(ONLY_OWNER)
  disableUser(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason, force = false }: ForcibleRequest,
  ): Promise<ForcibleResult> {
    return this.users.disable(userId, { ...operator, reason }, force);
  }

  /**
   * Enable an account
   *
   * @remarks The user can log in again; ended sessions stay ended. An account that is not disabled stays as it is.
   */
  @Post('enable')
  @HttpCode(200)
  @AccountOperation()
  @ApiUserId()
  enableUser(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return this.users.enable(userId, { ...operator, reason });
  }

  /**
   * End all sessions of a user
   *
   * @remarks The user is logged out everywhere, at the next request of each session, and can log in again.
   */
  @Post('end-sessions')
  @HttpCode(200)
  @AccountOperation()
  @ApiUserId()
  endUserSessions(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return this.users.endSessions(userId, { ...operator, reason });
  }

  /**
   * Verify the e-mail of a user
   *
   * @remarks The operator knows that the e-mail is the user's own. One that is verified stays so.
   */
  @Post('verify-email')
  @HttpCode(200)
  @AccountOperation()
  @ApiUserId()
  verifyUserEmail(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return this.users.verifyEmail(userId, { ...operator, reason });
  }

  /**
   * Remove the second factor of a user
   *
   * @remarks Helps somebody who has lost it, and whom the operator has recognized: every session ends, the password alone
   * logs in again, and a notice is mailed to the user if the e-mail is verified. An account without a second factor stays
   * as it is. The account of an operator is refused; the command line revokes the grant with the factor.
   */
  @Post('remove-second-factor')
  @HttpCode(200)
  @AccountOperation()
  @ApiUserId()
  removeUserSecondFactor(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return this.users.removeSecondFactor(userId, { ...operator, reason });
  }

  /**
   * Issue a code for a new password
   *
   * @remarks The answer shows the code once: tell it to the user, who sets a new password with it within 15 minutes. It
   * does not verify the e-mail. A change of the e-mail voids it, and so does the end of all sessions. A notice is mailed to the
   * user if the e-mail is verified.
   */
  @Post('reset-code')
  @AccountOperation()
  @ApiUserId()
  @ApiProblems('account_disabled')
  issueResetCode(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<ResetCodeResult> {
    return this.users.issueResetCode(userId, { ...operator, reason });
  }

  /**
   * Delete an account
   *
   * @remarks Deletes the user's memberships, sessions and codes, too; the record keeps only ids. This cannot be undone. The
   * only enabled owner of an organization is refused, and `orgs` names such organizations; with `force` the answer names
   * those that are left without one.
   */
  @Post('delete')
  @HttpCode(200)
  @AccountOperation()
  @ApiUserId()
  @ApiProblems(ONLY_OWNER)
  deleteUser(
    @CurrentOperator() operator: SignedInOperator,
    @Param('userId', EntityIdPipe) userId: string,
    @Body() { reason, force = false }: ForcibleRequest,
  ): Promise<ForcibleResult> {
    return this.users.delete(userId, { ...operator, reason }, force);
  }
}

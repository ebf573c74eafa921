import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import type { SignedInOperator } from '../access/principal.js';
import { EmailChanges } from '../accounts/email-changes.js';
import { PasswordSetting } from '../accounts/password-reset.js';
import { SecondFactorRemoval } from '../accounts/second-factor-removal.js';
import { UserDeletion } from '../accounts/user-deletion.js';
import { UserOperations } from '../accounts/user-operations.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { UserSessionsRepository } from '../auth/sessions/sessions.of-user.js';
import { CurrentOperator } from '../http/request-origin.js';
import { timeText } from '../identifiers/text.js';
import { invalidFields } from '../openapi/decorators.js';
import { OrgsRepository } from '../orgs/state/orgs.repository.js';
import type { OrphanedOrg } from '../orgs/state/user-memberships.js';
import { LiftedLimits } from '../rate-limits/login-limits.js';
import { ChangedUser, Operation, type UserChange, UserOperation } from './operated-changes.js';
import { CreateUserRequest, REASON_NEEDED, ReasonWithForceRequest } from './operators.requests.js';
import {
  CreatedUserResponse,
  EndedSessionsResponse,
  ForcedChangeResponse,
  ResetCodeResponse,
  UserChangeResponse,
} from './users.responses.js';
import { createdUserView } from './views.js';
import type { ChangeOutcome } from '../database/transactions/transactions.js';

const ONLY_OWNER = {
  code: 'last_owner',
  extensions: {
    orgs: [{ id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines', hasOtherMembers: true }],
  },
} as const;

@Controller('api/operators/users')
export class UserOperationsController {
  constructor(
    private readonly orgs: OrgsRepository,
    private readonly operations: UserOperations,
    private readonly deletion: UserDeletion,
    private readonly revocation: SessionRevocation,
    private readonly sessions: UserSessionsRepository,
    private readonly emails: EmailChanges,
    private readonly secondFactors: SecondFactorRemoval,
    private readonly passwords: PasswordSetting,
    private readonly codes: EmailCodes,
    private readonly limits: LiftedLimits,
  ) {}

  /**
   * Create a user
   *
   * @remarks Creates a user without a password and sends them a code by email, with which they set one within 7 days at
   * `POST /api/auth/password/reset`.
   *
   * Operators can create users while the registration is closed, and with any domain. Without a mail server, the
   * response contains the code, which is not shown again. Give it to the user. A password reset, an email change or a
   * revocation of all sessions voids it.
   */
  @Post()
  @Operation(invalidFields({ email: 'must be an email address', reason: REASON_NEEDED }), 'email_taken')
  async adminCreateUser(
    @CurrentOperator() operator: SignedInOperator,
    @Body() { email, name = null, verified: isVerified = false, reason }: CreateUserRequest,
  ): Promise<CreatedUserResponse> {
    const created = await this.operations.create({ email, name, isVerified }, { ...operator, reason });
    return createdUserView(created, (code) => this.codes.textOf(code));
  }

  /**
   * Disable a user
   *
   * @remarks Disables a user: sessions are rejected from their next request on, and the user cannot log in.
   *
   * Fails with `last_owner` if the user is the only enabled owner of an organization; `orgs` lists these organizations.
   * With `force` the user is disabled, and the response names the organizations without an enabled owner.
   */
  @Post(':userId/disable')
  @HttpCode(200)
  @UserOperation(ONLY_OWNER)
  async adminDisableUser(
    @ChangedUser(ReasonWithForceRequest) change: UserChange,
  ): Promise<ForcedChangeResponse> {
    return this.forced(change, () => this.operations.disable(change.userId, change));
  }

  /**
   * Enable a user
   *
   * @remarks Enables a disabled user, who can log in again. Revoked sessions stay revoked.
   *
   * A user who is not disabled stays enabled.
   */
  @Post(':userId/enable')
  @HttpCode(200)
  @UserOperation()
  async adminEnableUser(@ChangedUser() { userId, actor, email }: UserChange): Promise<UserChangeResponse> {
    await this.operations.enable(userId, actor);
    return { ok: true, email };
  }

  /**
   * Lift a user's login limits
   *
   * @remarks Lifts the login limits of a user: those of logins with their email from every IP address, and the count of
   * wrong TOTP codes. It takes effect on every instance within 5 seconds.
   *
   * It does not lift the limit of one IP address over all emails. An attacker who continues is limited again.
   */
  @Post(':userId/unblock')
  @HttpCode(200)
  @UserOperation()
  async adminUnblockUser(@ChangedUser() { userId, actor, email }: UserChange): Promise<UserChangeResponse> {
    await this.operations.unblock(userId, actor);
    await this.limits.tryToApply();
    return { ok: true, email };
  }

  /**
   * Revoke a user's sessions
   *
   * @remarks Revokes all sessions of a user, who can log in again.
   */
  @Post(':userId/end-sessions')
  @HttpCode(200)
  @UserOperation()
  async adminRevokeUserSessions(@ChangedUser() change: UserChange): Promise<EndedSessionsResponse> {
    const { ended } = await this.counted(change, () =>
      this.revocation.revokeAllOf(change.userId, change.actor),
    );
    return ended;
  }

  /**
   * Verify a user's email
   *
   * @remarks Marks the email as verified, because the operator knows that it belongs to the user.
   *
   * A verified email stays verified.
   */
  @Post(':userId/verify-email')
  @HttpCode(200)
  @UserOperation()
  async adminVerifyUserEmail(
    @ChangedUser() { userId, actor, email }: UserChange,
  ): Promise<UserChangeResponse> {
    await this.emails.verifyByOperator(userId, actor);
    return { ok: true, email };
  }

  /**
   * Turn off a user's 2FA
   *
   * @remarks Turns off two-factor authentication for a user who lost the second factor and whose identity you have
   * checked. Revokes every session, and sends a notice if the email is verified.
   *
   * A user without two-factor authentication stays as it is. Operators are rejected: for them, use the command line,
   * which also revokes the operator grant.
   */
  @Post(':userId/remove-second-factor')
  @HttpCode(200)
  @UserOperation()
  async adminRemoveUserSecondFactor(@ChangedUser() change: UserChange): Promise<EndedSessionsResponse> {
    const remove = () => this.secondFactors.byOperator(change.userId, change.actor);
    return (await this.counted(change, remove)).ended;
  }

  /**
   * Issue a reset code
   *
   * @remarks Returns a reset code, which is not shown again. Give it to the user, who sets a new password with it
   * within 15 minutes. A notice is sent if the email is verified.
   *
   * The code does not verify the email. An email change or a revocation of all sessions voids it.
   */
  @Post(':userId/reset-code')
  @UserOperation('account_disabled')
  async adminIssueResetCode(@ChangedUser() { userId, actor }: UserChange): Promise<ResetCodeResponse> {
    const issued = await this.passwords.issueCode(userId, actor);
    return { code: this.codes.textOf(issued), expiresAt: timeText(issued.expiresAt) };
  }

  /**
   * Delete a user
   *
   * @remarks Deletes a user with all memberships, sessions and codes. The audit log keeps only ids. This cannot be
   * undone.
   *
   * The only enabled owner of an organization is not deleted, and `orgs` names such organizations. With `force` the
   * user is deleted, and the response names the organizations without an enabled owner.
   */
  @Post(':userId/delete')
  @HttpCode(200)
  @UserOperation(ONLY_OWNER)
  async adminDeleteUser(
    @ChangedUser(ReasonWithForceRequest) change: UserChange,
  ): Promise<ForcedChangeResponse> {
    return this.forced(change, () => this.deletion.delete(change.userId, change));
  }

  private async forced(
    change: UserChange,
    run: () => Promise<ChangeOutcome<OrphanedOrg[]>>,
  ): Promise<ForcedChangeResponse> {
    const { outcome, ended } = await this.counted(change, run);
    const orphaned = outcome.kind === 'done' ? outcome.answer : [];
    return change.force ? { ...ended, orphanedOrgs: await this.orgs.withNames(orphaned) } : ended;
  }

  /** Counts before the change: afterwards, nothing tells its sessions from those that ended earlier. */
  private async counted<Answer>(
    { userId, email }: UserChange,
    run: () => Promise<ChangeOutcome<Answer>>,
  ): Promise<{ outcome: ChangeOutcome<Answer>; ended: EndedSessionsResponse }> {
    const alive = await this.sessions.countAlive(userId, Date.now());
    const outcome = await run();
    return { outcome, ended: { ok: true, email, sessionsEnded: outcome.kind === 'done' ? alive : 0 } };
  }
}

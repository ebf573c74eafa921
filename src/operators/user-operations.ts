import { Injectable } from '@nestjs/common';
import type { SignedInOperator } from '../access/actor.js';
import { readable } from '../auth/mail-codes/mail-code-text.js';
import { MailCodes } from '../auth/mail-codes/mail-codes.js';
import { VouchedEmails } from '../auth/mail-codes/vouched-emails.js';
import { HandedOutResetCodes } from '../auth/recovery/handed-out-reset-codes.js';
import { SecondFactorRemoval } from '../auth/second-factor/second-factor-removal.js';
import { AllSessionsService } from '../auth/sessions/all-sessions.service.js';
import { OK } from '../http/ok.js';
import type { OkResult } from '../http/ok.responses.js';
import { OwnershipRepository } from '../orgs/ownership.repository.js';
import { UserDeletionService } from '../users/user-deletion.service.js';
import { UserDisablingService } from '../users/user-disabling.service.js';
import type { OrphanedOrg } from '../users/user-ties.js';
import { asProblems } from './as-problems.js';
import { ChangeableUsers } from './changeable-users.js';
import type { ForcibleResult, ResetCodeResult } from './dto/operations.responses.js';

/** Has the services that the commands call change an account. One where there is nothing to change stays as it is. */
@Injectable()
export class UserOperations {
  constructor(
    private readonly users: ChangeableUsers,
    private readonly disabling: UserDisablingService,
    private readonly deletion: UserDeletionService,
    private readonly sessions: AllSessionsService,
    private readonly emails: VouchedEmails,
    private readonly secondFactors: SecondFactorRemoval,
    private readonly resetCodes: HandedOutResetCodes,
    private readonly codes: MailCodes,
    private readonly ownership: OwnershipRepository,
  ) {}

  async disable(userId: string, actor: SignedInOperator, force: boolean): Promise<ForcibleResult> {
    await this.users.require(userId, actor);
    return this.named(force, await asProblems(this.disabling.disable(userId, { actor, force })));
  }

  async enable(userId: string, actor: SignedInOperator): Promise<OkResult> {
    await this.users.require(userId, actor);
    await this.disabling.enable(userId, actor);
    return OK;
  }

  async endSessions(userId: string, actor: SignedInOperator): Promise<OkResult> {
    await this.users.require(userId, actor);
    await this.sessions.endAllOf(userId, actor);
    return OK;
  }

  async verifyEmail(userId: string, actor: SignedInOperator): Promise<OkResult> {
    await this.users.require(userId, actor);
    await this.emails.verify(userId, actor);
    return OK;
  }

  async removeSecondFactor(userId: string, actor: SignedInOperator): Promise<OkResult> {
    await this.secondFactors.byOperator(await this.users.require(userId, actor), actor);
    return OK;
  }

  async delete(userId: string, actor: SignedInOperator, force: boolean): Promise<ForcibleResult> {
    await this.users.require(userId, actor);
    return this.named(force, await asProblems(this.deletion.delete(userId, { actor, force })));
  }

  async issueResetCode(userId: string, actor: SignedInOperator): Promise<ResetCodeResult> {
    await this.users.require(userId, actor);
    const issued = await asProblems(this.resetCodes.issue(this.codes, userId, actor));
    return {
      code: readable(this.codes.textOf(issued)),
      expiresAt: new Date(issued.expiresAt).toISOString(),
    };
  }

  private async named(force: boolean, orphaned: readonly OrphanedOrg[] = []): Promise<ForcibleResult> {
    return force ? { ...OK, orphanedOrgs: await this.ownership.withNames(orphaned) } : OK;
  }
}

import { Injectable } from '@nestjs/common';
import { type Actor, type OperatorActor, principalOf } from '../access/principal.js';
import { type EmailCode, EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { SecondFactorFailuresRepository } from '../auth/second-factor/second-factor-failures.repository.js';
import { Env } from '../config/env.js';
import {
  type ChangeOutcome,
  type Transaction,
  Transactions,
  UNCHANGED,
} from '../database/transactions/transactions.js';
import { EventsRepository } from '../events/events.repository.js';
import { Mails } from '../mail/mails.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { type OrphanedOrg, UserMemberships } from '../orgs/state/user-memberships.js';
import { RefusedError } from '../problems/problem.js';
import { LiftedLimitsRepository } from '../rate-limits/lifted-limits.repository.js';
import { emailKey } from '../rate-limits/rate-limit-store.js';
import { type LockedUser, UserChanges } from '../users/user-changes.js';
import { NO_PASSWORD_HASH } from '../users/user.entity.js';
import type { UserView } from '../users/user-view.js';
import { UsersRepository } from '../users/users.repository.js';
import { UserUpdatesRepository } from '../users/users.updates.js';

export interface Forcible {
  actor: Actor;
  /** allows an operation that is rejected otherwise, such as leaving an organization without an enabled owner */
  force: boolean;
}

export interface NewUser {
  email: string;
  name: string | null;
  isVerified: boolean;
}

export interface CreatedUser {
  user: UserView;
  code: EmailCode | undefined;
}

/** Rolls back the transaction of a dry run. */
class DryRunEnd extends Error {
  constructor(readonly orphaned: OrphanedOrg[]) {
    super('a dry run');
  }
}

const SETUP_CODE_TTL_MS = 7 * 86_400_000;

@Injectable()
export class UserOperations {
  constructor(
    private readonly changes: UserChanges,
    private readonly users: UsersRepository,
    private readonly updates: UserUpdatesRepository,
    private readonly orgs: OrgChanges,
    private readonly userMemberships: UserMemberships,
    private readonly codes: EmailCodesRepository,
    private readonly failures: SecondFactorFailuresRepository,
    private readonly liftedLimits: LiftedLimitsRepository,
    private readonly events: EventsRepository,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  /** The user has no password before they enter the code like a reset code. @throws email_taken, TooManyMailsError */
  create({ email, name, isVerified }: NewUser, actor: OperatorActor): Promise<CreatedUser> {
    return this.transactions.run({ principal: principalOf(actor) }, async (tx) => {
      const more = { name, emailVerifiedAt: isVerified ? Date.now() : null };
      const { id: userId, revision } = await this.users.create(tx, email, NO_PASSWORD_HASH, more);
      const event = { type: 'account.registered', actor, userId, data: { via: 'operator' } } as const;
      await this.events.record(tx, { ...event, userRevision: revision });
      const code = await this.issueSetupCode(tx, { userId, email, actor });
      const user = await this.users.findById(userId, tx);
      return { user: user!, code: this.env.smtp ? undefined : code };
    });
  }

  /** Only a code that was emailed proves the email. The epoch voids the code with the sessions of all users. */
  private async issueSetupCode(
    tx: Transaction,
    { userId, email, actor }: { userId: string; email: string; actor: OperatorActor },
  ): Promise<EmailCode> {
    const code = await this.codes.issue(tx, {
      purpose: 'password_setup',
      subject: email,
      email,
      userId,
      authEpoch: 0,
      handedOut: this.env.smtp ? 0 : 1,
      expiresAt: Date.now() + SETUP_CODE_TTL_MS,
    });
    await this.mails.enqueueWithinLimits(tx, {
      kind: 'password_setup',
      recipient: email,
      senderId: actor.id,
      code: { id: code.id, number: code.codeNumber },
      expiresAt: code.expiresAt,
    });
    return code;
  }

  /** @throws last_owner, operator_protected */
  async disable(
    userId: string,
    { actor, force, isDryRun = false }: Forcible & { isDryRun?: boolean },
  ): Promise<ChangeOutcome<OrphanedOrg[]>> {
    const disabling = this.orgs.inOrgsOf({ actor }, userId, async (tx, user, memberships) => {
      if (user.disabledAt !== null) return UNCHANGED;
      await this.updates.disable(tx, userId);
      const change = { actor, userId, memberships, force };
      const { orphaned, events } = await this.userMemberships.stayDisabled(tx, change);
      if (isDryRun) throw new DryRunEnd(orphaned);
      await user.recordWithEnd(
        { type: 'account.disabled', ...(orphaned.length > 0 && { data: { force: true } }) },
        { reason: 'account_disabled' },
        ...events,
      );
      return orphaned;
    });
    try {
      return await disabling;
    } catch (error) {
      if (error instanceof DryRunEnd) return { kind: 'done', answer: error.orphaned };
      throw error;
    }
  }

  enable(userId: string, actor: Actor): Promise<ChangeOutcome<void>> {
    return this.changes.inUser({ actor }, userId, async (tx, user) => {
      if (user.disabledAt === null) return UNCHANGED;
      await this.updates.enable(tx, userId);
      return user.record({ type: 'account.enabled' });
    });
  }

  /** Instances lift the limits within a few seconds of COMMIT. An attacker who continues is limited again. */
  unblock(userId: string, actor: Actor): Promise<ChangeOutcome<void>> {
    return this.changes.inUser({ actor }, userId, async (tx, user) => {
      await this.liftedLimits.put(tx, emailKey(user.email));
      await this.failures.clearAll(tx, userId);
      return user.record({ type: 'account.unblocked' });
    });
  }

  /** Voids a reset code that another operator may have issued. @throws RefusedError */
  grantOperator(userId: string, { actor, force }: Forcible): Promise<ChangeOutcome<void>> {
    return this.changes.inUser({ actor }, userId, async (tx, user) => {
      if (user.disabledAt !== null) throw new RefusedError('the user is disabled', 'account_disabled');
      if (user.operatorSince !== null) return UNCHANGED;
      const hasSecondFactor = user.secondFactorAt !== null;
      if (!hasSecondFactor && !force) {
        throw new RefusedError(
          'the user does not use two-factor authentication, and an attacker with their password could enroll first: let the user turn it on (second_factor_required)',
        );
      }
      return this.grant(tx, user, hasSecondFactor ? {} : { data: { force: true } });
    });
  }

  async grant(tx: Transaction, user: LockedUser, more: { data?: { force: true } } = {}): Promise<void> {
    await this.updates.setOperator(tx, user.id, Date.now());
    await this.codes.voidResets(tx, user.email);
    await user.record({ type: 'account.operator_granted', ...more });
  }

  revokeOperator(userId: string, actor: Actor): Promise<ChangeOutcome<void>> {
    return this.changes.inUser({ actor }, userId, async (tx, user) => {
      if (user.operatorSince === null) return UNCHANGED;
      await this.updates.setOperator(tx, userId, null);
      return user.record({ type: 'account.operator_revoked' });
    });
  }
}

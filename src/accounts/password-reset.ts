import { Injectable } from '@nestjs/common';
import type { Actor, Origin } from '../access/principal.js';
import { ApiKeysRepository } from '../api-keys/api-keys.repository.js';
import type { ResetPasswordRequest } from '../auth/auth.requests.js';
import {
  EMAIL_CODE_TTL_MS,
  type EmailCode,
  EmailCodesRepository,
  RESETS,
} from '../auth/email-codes/email-codes.repository.js';
import { EmailCodes } from '../auth/email-codes/email-codes.js';
import { IdentitiesRepository } from '../auth/providers/identities.repository.js';
import { BreachedPasswords } from '../auth/passwords/breached-passwords.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { PasswordHasher } from '../auth/passwords/password-hasher.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import {
  type ChangeOutcome,
  type Transaction,
  Transactions,
  UNCHANGED,
} from '../database/transactions/transactions.js';
import type { NewEvent } from '../events/event-types.js';
import { Mails } from '../mail/mails.js';
import { Problem, RefusedError } from '../problems/problem.js';
import { LiftedLimits } from '../rate-limits/login-limits.js';
import { clientKey } from '../rate-limits/rate-limit-store.js';
import type { LockedMembership } from '../orgs/state/members.repository.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { type LockedUser, UserChanges } from '../users/user-changes.js';
import { UsersRepository } from '../users/users.repository.js';
import { UserUpdatesRepository } from '../users/users.updates.js';
import { SecondFactorRemoval } from './second-factor-removal.js';

@Injectable()
export class PasswordSetting {
  constructor(
    private readonly changes: UserChanges,
    private readonly users: UserUpdatesRepository,
    private readonly codes: EmailCodesRepository,
    private readonly mails: Mails,
  ) {}

  setByOperator(userId: string, hash: string, actor: Actor): Promise<ChangeOutcome<void>> {
    return this.changes.inUser({ actor }, userId, (tx, user) => this.set(tx, user, hash));
  }

  async set(tx: Transaction, user: LockedUser, hash: string): Promise<void> {
    const { id, email } = user;
    await this.users.setPassword(tx, id, hash);
    await this.codes.voidAll(tx, { id, email });
    await user.recordWithEnd({ type: 'account.password_changed' }, { reason: 'password_changed' });
    await this.mails.notify(tx, { kind: 'password_changed', recipient: email, senderId: id });
  }

  /** Anyone with the code can take over the account, so the user gets an email as well. @throws RefusedError */
  async issueCode(id: string, actor: Actor): Promise<EmailCode> {
    const issued = await this.changes.inUser({ actor }, id, async (tx, user) => {
      const { email, authEpoch, disabledAt } = user;
      if (disabledAt !== null) return UNCHANGED;
      // Anyone can request an emailed code. It has another purpose, so that it does not void this one.
      const code = { purpose: 'handed_out_reset', subject: email, email, authEpoch, userId: id } as const;
      const handedOut = await this.codes.issue(tx, code);
      await user.record({ type: 'account.reset_code_issued' });
      await this.mails.notify(tx, { kind: 'reset_code_issued', recipient: email, senderId: id });
      return handedOut;
    });
    if (issued.kind !== 'done') throw new RefusedError('the user is disabled', 'account_disabled');
    return issued.answer;
  }
}

/** No response reveals whether an account exists. */
@Injectable()
export class PasswordResetService {
  constructor(
    private readonly codes: EmailCodesRepository,
    private readonly typedCodes: EmailCodes,
    private readonly mails: Mails,
    private readonly users: UsersRepository,
    private readonly updates: UserUpdatesRepository,
    private readonly changes: UserChanges,
    private readonly orgs: OrgChanges,
    private readonly secondFactors: SecondFactorRemoval,
    private readonly apiKeys: ApiKeysRepository,
    private readonly identities: IdentitiesRepository,
    private readonly setting: PasswordSetting,
    private readonly breached: BreachedPasswords,
    private readonly passwords: PasswordHasher,
    private readonly limits: LiftedLimits,
    private readonly transactions: Transactions,
  ) {}

  async ask(email: string, { address }: Origin): Promise<void> {
    this.mails.requireServer();
    const senderId = clientKey(address);
    await this.transactions.run({ principal: senderId }, async (tx) => {
      await this.codes.keep(tx, { purpose: 'password_reset', subject: email });
      const expiresAt = Date.now() + EMAIL_CODE_TTL_MS;
      const mail = { kind: 'password_reset', recipient: email, senderId, expiresAt } as const;
      await this.mails.enqueue(tx, mail);
    });
  }

  /** Hashes the password only if the code is right. @throws invalid_email_code */
  async reset(
    { email, code, newPassword }: ResetPasswordRequest,
    client: HashClient,
    origin: Origin,
  ): Promise<void> {
    const checked = await this.transactions.run({ principal: client.key }, async (tx) => {
      // Without it, only a try at an email with a code would write.
      await this.codes.keep(tx, { purpose: 'password_reset', subject: email });
      return this.typedCodes.check(tx, RESETS, email, code);
    });
    if (!checked) throw new Problem('invalid_email_code');
    // Only now, so that a stranger can neither cause requests nor use up the code.
    await this.breached.refuse('newPassword', newPassword, client.key);
    const hash = await this.passwords.hash(newPassword, client);
    const owner = await this.users.findByEmail(email);
    if (!owner) throw new Problem('invalid_email_code');
    const actor = { kind: 'system', ...origin } as const;
    const reset = async (tx: Transaction, user: LockedUser, memberships?: LockedMembership[]) => {
      // Another user may have taken this email since an operator issued the code.
      const isOwner = user.email === checked.email && user.id === (checked.userId ?? user.id);
      const isInEpoch = user.authEpoch === (checked.authEpoch ?? user.authEpoch);
      if (!isOwner || !isInEpoch || user.disabledAt !== null) return UNCHANGED;
      if (!(await this.codes.use(tx, checked))) return UNCHANGED;
      if (checked.handedOut === 0) await this.noteOwner(tx, user, { actor, memberships });
      await this.setting.set(tx, user, hash);
      await this.limits.lift(tx, user.email);
      return { ok: true };
    };
    // Most resets remove no second factor, and need not lock the organizations of the user.
    const mayRemoveFactor = owner.emailVerifiedAt === null && owner.secondFactorAt !== null;
    const done = await (mayRemoveFactor
      ? this.orgs.inOrgsOf({ actor }, owner.id, reset)
      : this.changes.inUser({ actor }, owner.id, (tx, user) => reset(tx, user)));
    if (done.kind !== 'done') throw new Problem('invalid_email_code');
    await this.limits.tryToApply();
  }

  /** Before the owner of the mailbox verified the email, an attacker may have set up the second factor, identities and API keys. */
  private async noteOwner(
    tx: Transaction,
    user: LockedUser,
    { actor, memberships }: { actor: Actor; memberships: LockedMembership[] | undefined },
  ): Promise<void> {
    if (!(await this.updates.proveEmail(tx, user.id, user.email))) return;
    await user.record({ type: 'account.email_verified' }, ...(await this.revokeApiKeys(tx, user.id, actor)));
    await this.unlink(tx, user);
    if (user.secondFactorAt === null) return;
    // The factor is newer than the read before the lock. The client repeats the request.
    if (!memberships) throw new LostConflictError(undefined);
    await this.secondFactors.byMailbox(tx, user, { actor, userId: user.id, memberships });
  }

  private async unlink(tx: Transaction, user: LockedUser): Promise<void> {
    const linked = await this.identities.listOfUser(user.id, tx);
    if (linked.length === 0) return;
    await this.identities.deleteOfUser(tx, user.id);
    for (const { name: provider } of linked)
      await user.record({ type: 'account.identity_unlinked', data: { provider } });
  }

  /** Does not lock the organizations, so the events of their API keys are those of the user, too. */
  private async revokeApiKeys(tx: Transaction, userId: string, actor: Actor): Promise<NewEvent[]> {
    const ids = await this.apiKeys.findIdsOf(tx, userId);
    if (ids.length === 0) return [];
    await this.apiKeys.deleteOfUser(tx, userId);
    const { revision: userRevision } = await this.updates.stateOf(tx, userId);
    const [type, reason] = ['key.revoked', 'mailbox_reset'] as const;
    return ids.map((keyId) => ({ type, actor, userId, userRevision, data: { keyId, reason } }));
  }
}

import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { Env } from '../config/env.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import { Mails } from '../mail/mails.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { RefusedError } from '../problems/problem.js';
import { UserChanges } from '../users/user-changes.js';
import { UserUpdates } from '../users/users.updates.js';

export interface EmailReplacement {
  email: string;
  /** whether the operator knows that the email is the user's own */
  isVerified: boolean;
  actor: Actor;
}

/** Changes and verifies emails without a code: the operator who asks for it vouches for the user. */
@Injectable()
export class VouchedEmails {
  constructor(
    private readonly changes: UserChanges,
    private readonly users: UserUpdates,
    private readonly codes: EmailCodesRepository,
    private readonly mails: Mails,
    private readonly members: MembersRepository,
    private readonly env: Env,
  ) {}

  /** Returns false if the email was verified before. */
  async verify(userId: string, actor: Actor): Promise<boolean> {
    const verified = await this.changes.inUser({ actor }, userId, async (transaction, user) => {
      if (user.emailVerifiedAt !== null) return undefined;
      await this.users.verifyEmail(transaction, userId);
      await user.record({ type: 'account.email_verified' });
      return true;
    });
    return verified ?? false;
  }

  /**
   * Keeps the sessions. Returns false if the user has this email already.
   * @throws email_taken, RefusedError
   */
  async replace(
    { id, email: from }: { id: string; email: string },
    { email, isVerified, actor }: EmailReplacement,
  ): Promise<boolean> {
    if (email === from) return false;
    const replaced = await this.changes.inUser({ actor }, id, async (transaction, user) => {
      if (user.email !== from) return undefined;
      // Notify before the change: only a verified email of the user gets a notice.
      await this.mails.notify(transaction, { kind: 'email_changed', recipient: from, senderId: id });
      await this.users.changeEmail(transaction, id, email, isVerified);
      // The first password reset at an unverified email removes the second factor, and here that is the user's own.
      if (!isVerified && this.env.smtp && user.secondFactorAt !== null) {
        throw new RefusedError(
          'the account has a second factor, which needs a verified email: use --verified if the email is the user’s own',
          'verified_email_required',
        );
      }
      await this.members.updateEmail(transaction, id, email);
      // These codes may be on their way to either address.
      await this.codes.voidAll(transaction, user);
      await this.codes.voidResets(transaction, email);
      await user.record({ type: 'account.email_changed', data: { verified: isVerified } });
      return true;
    });
    if (!replaced) throw new LostConflictError(undefined);
    return true;
  }
}

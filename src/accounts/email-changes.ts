import { Injectable } from '@nestjs/common';
import type { Actor } from '../access/principal.js';
import { EmailCodesRepository } from '../auth/email-codes/email-codes.repository.js';
import { Env } from '../config/env.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import { type ChangeOutcome, type Transaction, UNCHANGED } from '../database/transactions/transactions.js';
import { Mails } from '../mail/mails.js';
import { MembersRepository } from '../orgs/state/members.repository.js';
import { RefusedError } from '../problems/problem.js';
import { type LockedUser, UserChanges } from '../users/user-changes.js';
import { UserUpdatesRepository } from '../users/users.updates.js';

@Injectable()
export class EmailChanges {
  constructor(
    private readonly changes: UserChanges,
    private readonly users: UserUpdatesRepository,
    private readonly codes: EmailCodesRepository,
    private readonly mails: Mails,
    private readonly members: MembersRepository,
    private readonly env: Env,
  ) {}

  verifyByOperator(userId: string, actor: Actor): Promise<ChangeOutcome<void>> {
    return this.changes.inUser({ actor }, userId, async (tx, user) =>
      user.emailVerifiedAt === null ? this.verify(tx, user) : UNCHANGED,
    );
  }

  /** Keeps the sessions. @throws email_taken, RefusedError */
  replaceByOperator(
    { id, email: from }: { id: string; email: string },
    { email, isVerified, actor }: { email: string; isVerified: boolean; actor: Actor },
  ): Promise<ChangeOutcome<void>> {
    return this.changes.inUser({ actor }, id, async (tx, user) => {
      if (user.email !== from) throw new LostConflictError(undefined);
      if (email === from) return UNCHANGED;
      // `notify` only writes to a verified email of the user, so it must come before the change.
      await this.mails.notify(tx, { kind: 'email_changed', recipient: from, senderId: id });
      await this.replace(tx, user, email, isVerified);
      // The first password reset at an unverified email would remove the user's own second factor.
      if (!isVerified && this.env.smtp && user.secondFactorAt !== null) {
        throw new RefusedError(
          'two-factor authentication needs a verified email: use --verified if the email belongs to the user',
          'verified_email_required',
        );
      }
      return user.record({ type: 'account.email_changed', data: { verified: isVerified } });
    });
  }

  async verify(tx: Transaction, user: LockedUser): Promise<void> {
    await this.users.verifyEmail(tx, user.id);
    await user.record({ type: 'account.email_verified' });
  }

  /** Changes every copy of the email, and voids the codes that may be on their way to either address. @throws email_taken */
  async replace(tx: Transaction, user: LockedUser, email: string, isVerified: boolean): Promise<void> {
    await this.users.changeEmail(tx, user.id, email, isVerified);
    await this.members.updateEmail(tx, user.id, email);
    await this.codes.voidAll(tx, user);
    await this.codes.voidResets(tx, email);
  }
}

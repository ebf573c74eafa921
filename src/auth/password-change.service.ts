import { Injectable } from '@nestjs/common';
import { type ChangeOutcome, UNCHANGED } from '../database/transactions/transactions.js';
import type { UserActor } from '../access/principal.js';
import { Env } from '../config/env.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import { Mails } from '../mail/mails.js';
import { ValidationProblem } from '../problems/problem.js';
import { UserChanges } from '../users/user-changes.js';
import { UserUpdatesRepository } from '../users/users.updates.js';
import { EmailCodesRepository } from './email-codes/email-codes.repository.js';
import { BreachedPasswords } from './passwords/breached-passwords.js';
import type { HashClient } from './passwords/hash-queue.js';
import { PasswordHasher } from './passwords/password-hasher.js';
import { passwordFault } from './passwords/password-policy.js';
import { SessionRevocation } from './sessions/session-revocation.js';
import { OwnerProofs, type ProvenOwner } from './second-factor/owner-proofs.js';

interface PasswordChange {
  currentPassword?: string | undefined;
  newPassword: string;
  code?: string | undefined;
}

/** A concurrent login may re-hash the password to the configured cost, but only once. */
const MAX_ATTEMPTS = 2;

@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly proofs: OwnerProofs,
    private readonly changes: UserChanges,
    private readonly users: UserUpdatesRepository,
    private readonly breached: BreachedPasswords,
    private readonly passwords: PasswordHasher,
    private readonly sessions: SessionRevocation,
    private readonly codes: EmailCodesRepository,
    private readonly mails: Mails,
    private readonly env: Env,
  ) {}

  async change(
    actor: UserActor,
    { currentPassword, newPassword, code }: PasswordChange,
    client: HashClient,
  ): Promise<void> {
    let hash: string | undefined;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const proof = { password: currentPassword, code };
      const owner = await this.proofs.verify(actor, proof, client, 'currentPassword');
      // Validation cannot compare the email, which is not in the body.
      const message = passwordFault(newPassword, owner.credentials.email, this.env);
      if (message !== undefined) throw new ValidationProblem([{ field: 'newPassword', message }]);
      if (hash === undefined) await this.breached.refuse('newPassword', newPassword, client.key);
      hash ??= await this.passwords.hash(newPassword, client);
      const { kind } = await this.replace(actor, owner, hash);
      if (kind === 'done') return;
    }
    throw new LostConflictError(undefined);
  }

  /** Changes nothing if the hash has changed since it was verified. */
  private replace(actor: UserActor, owner: ProvenOwner, hash: string): Promise<ChangeOutcome<void>> {
    const { id: userId, email, passwordHash } = owner.credentials;
    return this.changes.inUser({ actor }, userId, async (tx, user) => {
      const isCurrent = await this.users.hasPassword(tx, userId, passwordHash);
      if (!isCurrent || user.disabledAt !== null) return UNCHANGED;
      await this.users.setPassword(tx, userId, hash);
      await this.proofs.use(tx, owner, actor);
      await this.sessions.keepActing(tx, actor);
      await this.codes.voidAll(tx, { id: userId, email });
      await user.recordWithEnd(
        { type: 'account.password_changed' },
        { reason: 'password_changed', except: actor.sessionId },
      );
      return this.mails.notify(tx, { kind: 'password_changed', recipient: email, senderId: userId });
    });
  }
}

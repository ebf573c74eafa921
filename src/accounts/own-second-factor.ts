import { Injectable } from '@nestjs/common';
import type { UserActor } from '../access/principal.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { base32, newRecoveryCodes, newTotpSecret, otpauthUri } from '../auth/second-factor/codes.js';
import { type OwnerProof, OwnerProofs, type ProvenOwner } from '../auth/second-factor/owner-proofs.js';
import { SecondFactorVerification } from '../auth/second-factor/second-factor-verification.js';
import {
  RecoveryCodesRepository,
  SecondFactorsRepository,
} from '../auth/second-factor/second-factors.repository.js';
import { InvalidTokenError, WITH_CODE, WITHOUT_CODE } from '../auth/tokens/access-token.js';
import { EncryptedSecrets } from '../auth/tokens/derived-keys.js';
import { KeyRing } from '../auth/tokens/signing-keys.js';
import { SessionRevocation } from '../auth/sessions/session-revocation.js';
import { Env } from '../config/env.js';
import { isForeignKeyViolation, LostConflictError } from '../database/transactions/database-errors.js';
import { Transactions, UNCHANGED } from '../database/transactions/transactions.js';
import { Problem } from '../problems/problem.js';
import { Mails } from '../mail/mails.js';
import { OrgChanges } from '../orgs/state/org-changes.js';
import { suspensionEvents } from '../orgs/state/user-memberships.js';
import { UserChanges } from '../users/user-changes.js';
import { UsersRepository } from '../users/users.repository.js';
import type { UserView } from '../users/user-view.js';
import { UserUpdatesRepository } from '../users/users.updates.js';
import { SecondFactorRemoval } from './second-factor-removal.js';

const PENDING_MS = 10 * 60_000;

@Injectable()
export class OwnSecondFactorService {
  constructor(
    private readonly users: UsersRepository,
    private readonly updates: UserUpdatesRepository,
    private readonly changes: UserChanges,
    private readonly orgs: OrgChanges,
    private readonly proofs: OwnerProofs,
    private readonly verification: SecondFactorVerification,
    private readonly factors: SecondFactorsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly keys: KeyRing,
    private readonly removal: SecondFactorRemoval,
    private readonly sessions: SessionRevocation,
    private readonly mails: Mails,
    private readonly transactions: Transactions,
    private readonly env: Env,
  ) {}

  async find(userId: string) {
    const { secondFactorAt: enabledAt } = await this.userOf(userId);
    return {
      enabledAt,
      recoveryCodesLeft: enabledAt === null ? 0 : await this.recoveryCodes.countUnused(userId),
    };
  }

  /** Replaces a pending secret. @throws wrong_password, second_factor_enabled, InvalidTokenError */
  async begin(actor: UserActor, password: string | undefined, client: HashClient) {
    const { id: userId, email, secondFactorAt } = await this.proofs.verifyPassword(actor, password, client);
    if (secondFactorAt !== null) throw new Problem('second_factor_enabled');
    const bytes = newTotpSecret();
    const encrypted = new EncryptedSecrets(this.keys, 'second factor secrets').encrypt(bytes, userId);
    const pending = { secret: encrypted, pendingUntil: Date.now() + PENDING_MS };
    try {
      const isStored = await this.transactions.run({ principal: userId, row: userId }, (tx) =>
        this.factors.putPending(tx, userId, pending),
      );
      if (!isStored) throw new Problem('second_factor_enabled');
    } catch (error) {
      throw isForeignKeyViolation(error) ? new InvalidTokenError('user_gone') : error;
    }
    const secret = base32(bytes);
    return { secret, uri: otpauthUri({ issuer: this.env.mfaIssuer, email, secret }) };
  }

  /** Returns the recovery codes. Ends other sessions. @throws invalid_second_factor_code, RateLimitedError */
  async confirm(actor: UserActor, typed: string): Promise<string[]> {
    const user = await this.userOf(actor.id);
    if (user.secondFactorAt !== null) throw new Problem('second_factor_enabled');
    this.requireVerified(user);
    const checked = await this.verification.checkPending(user, typed);
    const { texts, hashes } = newRecoveryCodes();
    const { id: userId, email: recipient } = user;
    const done = await this.orgs.inOrgsOf({ actor }, userId, async (tx, locked, memberships) => {
      if (locked.secondFactorAt !== null) throw new Problem('second_factor_enabled');
      this.requireVerified(locked);
      const enabledAt = Date.now();
      await this.updates.setSecondFactor(tx, userId, enabledAt);
      await this.verification.usePending(tx, userId, { ...checked, enabledAt });
      await this.sessions.keepActing(tx, actor, WITH_CODE);
      await this.recoveryCodes.replaceAll(tx, userId, hashes);
      await locked.recordWithEnd(
        { type: 'account.second_factor_enabled' },
        { reason: 'second_factor_enabled', except: actor.sessionId },
        ...suspensionEvents('member.resumed', { actor, userId, memberships }),
      );
      await this.mails.notify(tx, { kind: 'second_factor_enabled', recipient, senderId: userId });
      return texts;
    });
    if (done.kind !== 'done') throw new InvalidTokenError('user_gone');
    return done.answer;
  }

  async renewRecoveryCodes(actor: UserActor, proof: OwnerProof, client: HashClient): Promise<string[]> {
    const owner = await this.verify(actor, proof, client);
    const { id: userId, email: recipient, authEpoch } = owner.credentials;
    const { texts, hashes } = newRecoveryCodes();
    const done = await this.changes.inUser({ actor }, userId, async (tx, user) => {
      if (user.authEpoch !== authEpoch || user.disabledAt !== null) return UNCHANGED;
      await this.proofs.use(tx, owner, actor);
      await this.recoveryCodes.replaceAll(tx, userId, hashes);
      await user.record({ type: 'account.recovery_codes_renewed' });
      return this.mails.notify(tx, { kind: 'recovery_codes_renewed', recipient, senderId: userId });
    });
    if (done.kind !== 'done') throw new LostConflictError(undefined);
    return texts;
  }

  async remove(actor: UserActor, proof: OwnerProof, client: HashClient): Promise<void> {
    const owner = await this.verify(actor, proof, client);
    const done = await this.orgs.inOrgsOf({ actor }, actor.id, async (tx, user, memberships) => {
      if (user.secondFactorAt === null) return UNCHANGED;
      await this.updates.setSecondFactor(tx, user.id, null);
      await this.proofs.use(tx, owner, actor);
      await this.sessions.keepActing(tx, actor, WITHOUT_CODE);
      const lost = { actor, userId: user.id, memberships };
      return { wasOperator: await this.removal.complete(tx, user, lost, actor.sessionId) };
    });
    if (done.kind !== 'done') throw new Problem('invalid_second_factor_code');
  }

  private async userOf(userId: string): Promise<UserView> {
    const user = await this.users.findById(userId);
    if (!user) throw new InvalidTokenError('user_gone');
    return user;
  }

  /** Otherwise an attacker could register an email and lock its owner out: no password reset removes a factor. */
  private requireVerified({ emailVerifiedAt }: { emailVerifiedAt: number | null }): void {
    if (this.env.smtp && emailVerifiedAt === null) throw new Problem('verified_email_required');
  }

  private async verify(actor: UserActor, proof: OwnerProof, client: HashClient): Promise<ProvenOwner> {
    const owner = await this.proofs.verify(actor, proof, client);
    if (!owner.code) throw new Problem('invalid_second_factor_code');
    return owner;
  }
}

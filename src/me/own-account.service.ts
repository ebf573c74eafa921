import { Injectable } from '@nestjs/common';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { type OwnerProof, OwnerProofs, type ProvenOwner } from '../auth/second-factor/owner-proofs.js';
import { LostConflictError } from '../database/transactions/database-errors.js';
import { OK, type OkResult } from '../http/fields.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import { UserDeletion } from '../accounts/user-deletion.js';
import { OnlyOwnerError, OrgsNeedOwnerError } from '../orgs/state/orgs.errors.js';

/** A login that re-hashes the password may come between, once. */
const MAX_ATTEMPTS = 2;

@Injectable()
export class OwnAccountService {
  constructor(
    private readonly proofs: OwnerProofs,
    private readonly deletion: UserDeletion,
    private readonly writes: Writes,
  ) {}

  /** @throws wrong_password, InvalidSecondFactorCodeError, OrgsNeedOwnerError, InvalidTokenError */
  async delete(write: Write, proof: OwnerProof, client: HashClient): Promise<OkResult> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const owner = await this.proofs.verify(write.actor.id, proof, client);
      if (await this.deleteProven(write, owner)) return OK;
    }
    throw new LostConflictError(undefined);
  }

  private async deleteProven(write: Write, owner: ProvenOwner): Promise<boolean> {
    const { actor } = write;
    try {
      const done = await this.deletion.delete(actor.id, {
        actor,
        force: false,
        passwordHash: owner.credentials.passwordHash,
        firstStep: (transaction) => this.proofs.use(transaction, owner, actor),
        dryRun: write.dryRun,
        lastStep: (transaction) => this.writes.complete(transaction, write, OK),
      });
      return done !== undefined;
    } catch (error) {
      throw error instanceof OnlyOwnerError ? new OrgsNeedOwnerError(error) : error;
    }
  }
}

import { Injectable } from '@nestjs/common';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { OwnPasswordService } from '../auth/passwords/own-password.service.js';
import { LostConflictError } from '../database/lost-conflict.error.js';
import { OK, type OkResult } from '../http/ok.responses.js';
import type { Write } from '../requests/write.js';
import { Writes } from '../requests/writes.js';
import { UserDeletionService } from '../users/user-deletion.service.js';
import { OnlyOwnerError, OrgsNeedOwnerError } from '../orgs/owners.errors.js';

/** A login that re-hashes the password may come between, once. */
const MAX_ATTEMPTS = 2;

@Injectable()
export class OwnAccountService {
  constructor(
    private readonly passwords: OwnPasswordService,
    private readonly deletion: UserDeletionService,
    private readonly writes: Writes,
  ) {}

  /** @throws WrongPasswordError, OrgsNeedOwnerError, InvalidTokenError */
  async delete(write: Write, password: string, client: HashClient): Promise<OkResult> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const { passwordHash } = await this.passwords.verify(write.actor.id, password, client);
      if (await this.deleteVerified(write, passwordHash)) return OK;
    }
    throw new LostConflictError(undefined);
  }

  private async deleteVerified(write: Write, passwordHash: string): Promise<boolean> {
    const { actor } = write;
    try {
      const done = await this.deletion.delete(actor.id, {
        actor,
        force: false,
        passwordHash,
        dryRun: write.dryRun,
        lastStep: (transaction) => this.writes.complete(transaction, write, OK),
      });
      return done !== undefined;
    } catch (error) {
      throw error instanceof OnlyOwnerError ? new OrgsNeedOwnerError(error) : error;
    }
  }
}

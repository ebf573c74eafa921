import { Injectable } from '@nestjs/common';
import type { UserActor } from '../access/actor.js';
import type { HashClient } from '../auth/passwords/hash-queue.js';
import { OwnPasswordService } from '../auth/passwords/own-password.service.js';
import { LostConflictError } from '../database/lost-conflict.error.js';
import { AccountDeletionService } from './account-deletion.service.js';
import { OnlyOwnerError, OrgsNeedOwnerError } from './accounts.errors.js';

/** A re-hash by a login may come between, once. */
const MAX_ATTEMPTS = 2;

@Injectable()
export class OwnAccountService {
  constructor(
    private readonly passwords: OwnPasswordService,
    private readonly deletion: AccountDeletionService,
  ) {}

  /**
   * @param password normalized
   * @throws WrongPasswordError, OrgsNeedOwnerError, InvalidTokenError
   */
  async delete(actor: UserActor, password: string, client: HashClient): Promise<void> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const { passwordHash } = await this.passwords.verify(actor.id, password, client);
      if (await this.deleteVerified(actor, passwordHash)) return;
    }
    throw new LostConflictError(undefined);
  }

  private async deleteVerified(actor: UserActor, passwordHash: string): Promise<boolean> {
    try {
      return await this.deletion.delete(actor.id, { actor, force: false, passwordHash });
    } catch (error) {
      throw error instanceof OnlyOwnerError ? new OrgsNeedOwnerError(error) : error;
    }
  }
}

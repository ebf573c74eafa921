import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { FailedAttemptsRepository } from './failed-attempts.repository.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

@Injectable()
export class SecondFactorRows {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly attempts: FailedAttemptsRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
  ) {}

  async deleteOf(transaction: Transaction, userId: string): Promise<void> {
    await this.factors.delete(transaction, userId);
    await this.attempts.delete(transaction, userId);
    await this.recoveryCodes.delete(transaction, userId);
  }
}

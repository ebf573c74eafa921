import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorFailuresRepository } from './second-factor-failures.repository.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

@Injectable()
export class SecondFactorRows {
  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly failures: SecondFactorFailuresRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
  ) {}

  async delete(transaction: Transaction, userId: string): Promise<void> {
    await this.factors.delete(transaction, userId);
    await this.failures.delete(transaction, userId);
    await this.recoveryCodes.delete(transaction, userId);
  }
}

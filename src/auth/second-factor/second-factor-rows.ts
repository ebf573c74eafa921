import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transactions/transaction.js';
import { type DeletedUser, type ExportedRows, UserParts, type UserRows } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorFailuresRepository } from './second-factor-failures.repository.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

/** Exports neither the secret nor the hashes of recovery codes, nor wrong codes, which count for 15 minutes only. */
@Injectable()
export class SecondFactorRows implements UserRows, ExportedRows, OnModuleInit {
  readonly tables = ['second_factors', 'second_factor_failures', 'recovery_codes'];

  constructor(
    private readonly factors: SecondFactorsRepository,
    private readonly failures: SecondFactorFailuresRepository,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('second factor', this);
    this.parts.exported.register('secondFactor', this);
  }

  async delete(transaction: Transaction, { id }: Pick<DeletedUser, 'id'>): Promise<void> {
    await this.factors.delete(transaction, id);
    await this.failures.delete(transaction, id);
    await this.recoveryCodes.delete(transaction, id);
  }

  async *of({ id, secondFactorAt }: UserProfile): AsyncGenerator<object> {
    if (secondFactorAt === null) return;
    yield {
      enabledAt: new Date(secondFactorAt).toISOString(),
      recoveryCodesLeft: await this.recoveryCodes.countUnused(id),
    };
  }
}

import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/transaction.js';
import { type DeletedUser, type ExportedRows, UserParts, type UserRows } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorRows } from './second-factor-rows.js';

/** Exports neither the secret nor the hashes of recovery codes, nor attempts, which count for 15 minutes. */
@Injectable()
export class SecondFactorOfUser implements UserRows, ExportedRows, OnModuleInit {
  readonly tables = ['second_factors', 'second_factor_failures', 'recovery_codes'];

  constructor(
    private readonly rows: SecondFactorRows,
    private readonly recoveryCodes: RecoveryCodesRepository,
    private readonly parts: UserParts,
  ) {}

  onModuleInit(): void {
    this.parts.rows.register('second factor', this);
    this.parts.exported.register('secondFactor', this);
  }

  delete(transaction: Transaction, { id }: DeletedUser): Promise<void> {
    return this.rows.deleteOf(transaction, id);
  }

  async *of({ id, secondFactorAt }: UserProfile): AsyncGenerator<object> {
    if (secondFactorAt === null) return;
    yield {
      enabledAt: new Date(secondFactorAt).toISOString(),
      recoveryCodesLeft: await this.recoveryCodes.countUnused(id),
    };
  }
}

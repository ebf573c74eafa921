import { Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Transaction } from '../../database/transactions/transaction.js';
import { type DeletedUser, type ExportedRows, UserParts, type UserRows } from '../../users/user-parts.js';
import type { UserProfile } from '../../users/users.repository.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorFailuresRepository } from './second-factor-failures.repository.js';
import { SecondFactorsRepository } from './second-factors.repository.js';
import { UsersModule } from '../../users/users.module.js';
import { RecoveryCode, SecondFactor, SecondFactorFailures } from './second-factor.entities.js';

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

const PROVIDERS = [
  RecoveryCodesRepository,
  SecondFactorFailuresRepository,
  SecondFactorRows,
  SecondFactorsRepository,
];

/** What the CLI needs, too: no keys and no sessions. */
@Module({
  imports: [TypeOrmModule.forFeature([SecondFactor, SecondFactorFailures, RecoveryCode]), UsersModule],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class SecondFactorRowsModule {}

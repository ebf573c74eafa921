import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsersModule } from '../../users/users.module.js';
import { SealedParts } from '../tokens/sealed-parts.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorFailuresRepository } from './second-factor-failures.repository.js';
import { SecondFactorRows } from './second-factor-rows.js';
import { RecoveryCode, SecondFactor, SecondFactorFailures } from './second-factor.entities.js';
import { SecondFactorsRepository } from './second-factors.repository.js';

const PROVIDERS = [
  RecoveryCodesRepository,
  SealedParts,
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

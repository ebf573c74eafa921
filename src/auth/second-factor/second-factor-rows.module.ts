import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsersModule } from '../../users/users.module.js';
import { SealedParts } from '../tokens/sealed-parts.js';
import { FailedAttempts } from './failed-attempts.entity.js';
import { FailedAttemptsRepository } from './failed-attempts.repository.js';
import { RecoveryCode } from './recovery-code.entity.js';
import { RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactor } from './second-factor.entity.js';
import { SecondFactorOfUser } from './second-factor-of-user.js';
import { SecondFactorRows } from './second-factor-rows.js';
import { SecondFactorsRepository } from './second-factors.repository.js';
import { SealedSecondFactors } from './sealed-second-factors.js';

/** The rows alone, which commands share with the service. */
@Module({
  imports: [TypeOrmModule.forFeature([SecondFactor, FailedAttempts, RecoveryCode]), UsersModule],
  providers: [
    FailedAttemptsRepository,
    RecoveryCodesRepository,
    SecondFactorOfUser,
    SecondFactorRows,
    SecondFactorsRepository,
    SealedParts,
    SealedSecondFactors,
  ],
  exports: [
    SealedParts,
    FailedAttemptsRepository,
    RecoveryCodesRepository,
    SecondFactorRows,
    SecondFactorsRepository,
  ],
})
export class SecondFactorRowsModule {}

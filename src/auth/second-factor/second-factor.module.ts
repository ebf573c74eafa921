import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { LoginChallenges } from './login-challenges.js';
import { OwnerProofs } from './owner-proofs.js';
import {
  RecoveryCode,
  RecoveryCodesRepository,
  SecondFactor,
  SecondFactorRows,
  SecondFactorsRepository,
} from './second-factors.repository.js';
import { SecondFactorFailures, SecondFactorFailuresRepository } from './second-factor-failures.repository.js';
import { SecondFactorVerification } from './second-factor-verification.js';

const EXPORTED = [
  LoginChallenges,
  OwnerProofs,
  RecoveryCodesRepository,
  SecondFactorFailuresRepository,
  SecondFactorRows,
  SecondFactorsRepository,
  SecondFactorVerification,
];

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([SecondFactor, SecondFactorFailures, RecoveryCode])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class SecondFactorModule {}

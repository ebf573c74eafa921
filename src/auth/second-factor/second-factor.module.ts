import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../../events/events.module.js';
import { MailModule } from '../../mail/mails.js';
import { UsersModule } from '../../users/user-changes.js';
import { PasswordsModule } from '../passwords/passwords.module.js';
import { LoginChallenges } from './login-challenges.js';
import { OwnerProofs } from './owner-proofs.js';
import { RecoveryCode, RecoveryCodesRepository } from './recovery-codes.repository.js';
import { SecondFactorFailures, SecondFactorFailuresRepository } from './second-factor-failures.repository.js';
import { SecondFactor, SecondFactorRows, SecondFactorsRepository } from './second-factors.repository.js';
import { SecondFactorVerification } from './second-factor-verification.js';
import { TotpSecrets } from './codes.js';

const EXPORTED = [
  LoginChallenges,
  OwnerProofs,
  RecoveryCodesRepository,
  SecondFactorRows,
  SecondFactorsRepository,
  SecondFactorVerification,
  TotpSecrets,
];

@Module({
  imports: [
    TypeOrmModule.forFeature([SecondFactor, SecondFactorFailures, RecoveryCode]),
    EventsModule,
    MailModule,
    PasswordsModule,
    UsersModule,
  ],
  providers: [...EXPORTED, SecondFactorFailuresRepository],
  exports: EXPORTED,
})
export class SecondFactorModule {}

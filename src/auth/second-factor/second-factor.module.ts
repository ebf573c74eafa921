import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../../events/events.module.js';
import { MailModule } from '../../mail/mails.js';
import { UsersModule } from '../../users/user-changes.js';
import { PasswordsModule } from '../passwords/password-hasher.js';
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
  SecondFactorRows,
  SecondFactorsRepository,
  SecondFactorVerification,
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

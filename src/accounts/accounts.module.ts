import { Module } from '@nestjs/common';
import { EmailCodesModule } from '../auth/email-codes/email-codes.module.js';
import { PasswordsModule } from '../auth/passwords/passwords.module.js';
import { SecondFactorModule } from '../auth/second-factor/second-factor.module.js';
import { MailModule } from '../mail/mail.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { EmailProofs } from './email-proofs.js';
import { OwnSecondFactorService } from './own-second-factor.service.js';
import { PasswordChanges } from './password-changes.js';
import { PasswordRecoveryService } from './password-reset.js';
import { HandedOutResetCodes } from './reset-codes.js';
import { SecondFactorRemoval } from './second-factor-removal.js';
import { VouchedEmails } from './vouched-emails.js';

const EXPORTED = [
  EmailProofs,
  HandedOutResetCodes,
  OwnSecondFactorService,
  PasswordRecoveryService,
  SecondFactorRemoval,
  VouchedEmails,
];

@Module({
  imports: [EmailCodesModule, MailModule, PasswordsModule, RateLimitsModule, SecondFactorModule, UsersModule],
  providers: [...EXPORTED, PasswordChanges],
  exports: EXPORTED,
})
export class AccountsModule {}

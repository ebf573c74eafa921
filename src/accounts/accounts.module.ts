import { Module } from '@nestjs/common';
import { EmailCodesModule } from '../auth/email-codes/email-codes.module.js';
import { PasswordsModule } from '../auth/passwords/passwords.module.js';
import { SecondFactorModule } from '../auth/second-factor/second-factor.module.js';
import { EventsModule } from '../events/events.module.js';
import { MailModule } from '../mail/mails.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { RequestsModule } from '../requests/writes.js';
import { UsersModule } from '../users/user-changes.js';
import { OwnEmailService } from './own-email.js';
import { OwnSecondFactorService } from './own-second-factor.js';
import { PasswordRecoveryService, PasswordSetting } from './password-reset.js';
import { SecondFactorRemoval } from './second-factor-removal.js';
import { OwnDeletion, UserDeletion } from './user-deletion.js';
import { UserDisabling } from './user-disabling.js';
import { UserExport } from './user-export.js';
import { VouchedEmails } from './vouched-emails.js';

const PROVIDERS = [
  OwnDeletion,
  OwnEmailService,
  OwnSecondFactorService,
  PasswordRecoveryService,
  PasswordSetting,
  SecondFactorRemoval,
  UserDeletion,
  UserDisabling,
  UserExport,
  VouchedEmails,
];

/** What spans modules: each operation calls them in order. */
@Module({
  imports: [
    EmailCodesModule,
    EventsModule,
    MailModule,
    OrgStateModule,
    PasswordsModule,
    RateLimitsModule,
    RequestsModule,
    SecondFactorModule,
    UsersModule,
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class AccountsModule {}

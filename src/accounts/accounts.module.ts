import { Module } from '@nestjs/common';
import { EmailCodesModule } from '../auth/email-codes/email-codes.js';
import { PasswordsModule } from '../auth/passwords/password-hasher.js';
import { SecondFactorModule } from '../auth/second-factor/second-factor.module.js';
import { EventsModule } from '../events/events.module.js';
import { MailModule } from '../mail/mails.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { RequestsModule } from '../requests/writes.js';
import { UsersModule } from '../users/user-changes.js';
import { EmailChanges } from './email-changes.js';
import { OwnEmailService } from './own-email.js';
import { OwnProfile } from './own-profile.js';
import { OwnSecondFactorService } from './own-second-factor.js';
import { PasswordRecoveryService, PasswordSetting } from './password-reset.js';
import { SecondFactorRemoval } from './second-factor-removal.js';
import { OwnDeletion, UserDeletion } from './user-deletion.js';
import { UserExport } from './user-export.js';
import { UserOperations } from './user-operations.js';

const PROVIDERS = [
  EmailChanges,
  OwnDeletion,
  OwnEmailService,
  OwnProfile,
  OwnSecondFactorService,
  PasswordRecoveryService,
  PasswordSetting,
  SecondFactorRemoval,
  UserDeletion,
  UserExport,
  UserOperations,
];

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

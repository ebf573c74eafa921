import { Module } from '@nestjs/common';
import { EmailChanges } from './email-changes.js';
import { OwnEmailService } from './own-email.js';
import { OwnProfile } from './own-profile.js';
import { OwnSecondFactorService } from './own-second-factor.js';
import { PasswordResetService, PasswordSetting } from './password-reset.js';
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
  PasswordResetService,
  PasswordSetting,
  SecondFactorRemoval,
  UserDeletion,
  UserExport,
  UserOperations,
];

@Module({
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class AccountsModule {}

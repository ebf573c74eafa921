import { type DynamicModule, Module } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { ConfigModule } from '../../config/config.module.js';
import type { Env } from '../../config/env.js';
import { DatabaseModule } from '../../database/database.module.js';
import { EventsModule } from '../../events/events.module.js';
import { OrgStateModule } from '../../orgs/state/org-state.module.js';
import { TypeOrmModule } from '@nestjs/typeorm';
import { HandedOutResetCodes } from '../../accounts/reset-codes.js';
import { EmailCodesOfUser } from '../../auth/email-codes/email-codes-of-user.js';
import { VouchedEmails } from '../../accounts/vouched-emails.js';
import { OperatedMails } from '../../operators/operated-mails.js';
import { OperatorGrants } from '../../accounts/operator-grants.js';
import { OrgOwnersService } from '../../orgs/org-owners.service.js';
import { SessionsModule } from '../../auth/sessions/sessions.module.js';
import { SecondFactorRemoval } from '../../accounts/second-factor-removal.js';
import { RecoveryCodesRepository } from '../../auth/second-factor/recovery-codes.repository.js';
import { SecondFactorFailuresRepository } from '../../auth/second-factor/second-factor-failures.repository.js';
import { SecondFactorRows } from '../../auth/second-factor/second-factor-rows.js';
import {
  RecoveryCode,
  SecondFactor,
  SecondFactorFailures,
} from '../../auth/second-factor/second-factor.entities.js';
import { SecondFactorsRepository } from '../../auth/second-factor/second-factors.repository.js';
import { EmailCode } from '../../auth/email-codes/email-code.entity.js';
import { EmailCodesRepository } from '../../auth/email-codes/email-codes.repository.js';
import { PasswordChanges } from '../../accounts/password-changes.js';
import { MailModule } from '../../mail/mail.module.js';
import { ShownInvitationsService } from '../../orgs/invitations/shown-invitations.service.js';
import { ServicesModule } from '../../services/services.module.js';
import { UserPartsCheck } from '../../users/user-parts-check.js';
import { UsersModule } from '../../users/users.module.js';
import { RequestsModule } from '../../requests/requests.module.js';

const PROVIDERS = [
  HandedOutResetCodes,
  EmailCodesOfUser,
  EmailCodesRepository,
  OperatedMails,
  OperatorGrants,
  OrgOwnersService,
  PasswordChanges,
  RecoveryCodesRepository,
  SecondFactorFailuresRepository,
  SecondFactorRemoval,
  SecondFactorRows,
  SecondFactorsRepository,
  ShownInvitationsService,
  UserPartsCheck,
  VouchedEmails,
];

/** Provides commands with the services of the HTTP side, without anything that listens or runs by itself. */
@Module({})
export class CliModule {
  static forRoot(env: Env, dataSource: DataSource): DynamicModule {
    return {
      module: CliModule,
      imports: [
        ConfigModule.forRoot(env),
        DatabaseModule.forDataSource(dataSource),
        UsersModule,
        ServicesModule,
        OrgStateModule,
        RequestsModule,
        EventsModule,
        MailModule,
        SessionsModule,
        TypeOrmModule.forFeature([EmailCode, SecondFactor, SecondFactorFailures, RecoveryCode]),
      ],
      providers: PROVIDERS,
    };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { EmailChanges } from '../../accounts/email-changes.js';
import { OperatorCreation } from '../../accounts/operator-creation.js';
import { PasswordSetting } from '../../accounts/password-reset.js';
import { SecondFactorRemoval } from '../../accounts/second-factor-removal.js';
import { UserDeletion } from '../../accounts/user-deletion.js';
import { UserExport } from '../../accounts/user-export.js';
import { UserImportService } from '../../accounts/user-import.service.js';
import { UserOperations } from '../../accounts/user-operations.js';
import { ApiKeysModule } from '../../api-keys/api-keys.module.js';
import { ApiKeyRevocations } from '../../api-keys/api-key-revocations.js';
import { EmailCode, EmailCodesRepository } from '../../auth/email-codes/email-codes.repository.js';
import { ProvidersModule } from '../../auth/providers/providers.module.js';
import {
  SecondFactorFailures,
  SecondFactorFailuresRepository,
} from '../../auth/second-factor/second-factor-failures.repository.js';
import {
  RecoveryCode,
  RecoveryCodesRepository,
  SecondFactor,
  SecondFactorRows,
  SecondFactorsRepository,
} from '../../auth/second-factor/second-factors.repository.js';
import { SessionsModule } from '../../auth/sessions/sessions.module.js';
import { Instance, InstancesRepository } from '../../auth/tokens/instances.repository.js';
import { ConfigModule } from '../../config/config.module.js';
import type { Env } from '../../config/env.js';
import { DatabaseModule } from '../../database/database.module.js';
import { EventsModule } from '../../events/events.module.js';
import { MailModule } from '../../mail/mail.module.js';
import { OperatedMails } from '../../operators/operated-mails.js';
import { OperatedInvitations } from '../../orgs/invitations/invitations.service.js';
import { MembersService } from '../../orgs/members/members.service.js';
import { OperatedOrgs } from '../../orgs/operated-orgs.js';
import { OrgImport } from '../../orgs/org-import.js';
import { OrgStateModule } from '../../orgs/state/org-state.module.js';
import { LiftedLimit, LiftedLimitsRepository } from '../../rate-limits/lifted-limits.repository.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { ServicesModule } from '../../services/services.module.js';
import { UsersModule } from '../../users/users.module.js';

const OPERATIONS = [
  EmailChanges,
  MembersService,
  ApiKeyRevocations,
  OperatedMails,
  OperatedOrgs,
  OperatorCreation,
  OrgImport,
  PasswordSetting,
  SecondFactorRemoval,
  OperatedInvitations,
  UserDeletion,
  UserExport,
  UserImportService,
  UserOperations,
];

const ENTITIES = [EmailCode, Instance, LiftedLimit, RecoveryCode, SecondFactor, SecondFactorFailures];

/** The modules of these need signing keys or verify passwords, which commands do not. */
@Module({})
export class CliModule {
  static forRoot(env: Env, dataSource: DataSource): DynamicModule {
    return {
      module: CliModule,
      imports: [
        ApiKeysModule,
        ConfigModule.forRoot(env),
        DatabaseModule.forDataSource(dataSource),
        EventsModule,
        MailModule,
        OrgStateModule,
        ProvidersModule,
        RequestsModule,
        ServicesModule,
        SessionsModule,
        TypeOrmModule.forFeature(ENTITIES),
        UsersModule,
      ],
      providers: [
        ...OPERATIONS,
        EmailCodesRepository,
        InstancesRepository,
        LiftedLimitsRepository,
        RecoveryCodesRepository,
        SecondFactorFailuresRepository,
        SecondFactorRows,
        SecondFactorsRepository,
      ],
    };
  }
}

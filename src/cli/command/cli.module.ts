import { SessionsModule } from '../../auth/sessions/sessions.module.js';
import { LoginTracesRepository } from '../../auth/sessions/login-traces.repository.js';
import { SessionRevocation } from '../../auth/sessions/session-revocation.js';
import { OrgsRepository } from '../../orgs/state/orgs.repository.js';
import { MembersRepository } from '../../orgs/state/members.repository.js';
import { MemberLists } from '../../orgs/state/members.lists.js';
import { Memberships } from '../../orgs/state/members.memberships.js';
import { InvitationLists } from '../../orgs/state/invitations.lists.js';
import { MailModule, Mails } from '../../mail/mails.js';
import { MailsRepository } from '../../mail/mails.repository.js';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { UserImportService } from '../../users/user-import.service.js';
import { Instance, InstancesRepository } from '../../auth/tokens/instances.repository.js';
import { KeyRing } from '../../auth/tokens/signing-keys.js';
import { ServicesRepository } from '../../services/services.repository.js';
import { ServiceSecretsRepository } from '../../services/service-secrets.repository.js';
import { ServiceChanges, ServicesModule } from '../../services/service-changes.js';
import { EventsRepository } from '../../events/events.repository.js';
import { EventsRetention } from '../../events/events-retention.js';
import { FeedService } from '../../events/feed.service.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { UsersRepository } from '../../users/users.repository.js';
import { EmailCodes } from '../../auth/email-codes/email-codes.js';
import { loadKeyFile } from '../../auth/tokens/key-file.js';
import { requireSchema, withDatabase } from './database.js';
import { ConfigModule } from '../../config/config.module.js';
import { Env } from '../../config/env.js';
import { DatabaseModule } from '../../database/database.module.js';
import { EventsModule } from '../../events/events.module.js';
import { OrgStateModule } from '../../orgs/state/org-state.module.js';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EmailChanges } from '../../accounts/email-changes.js';
import { PasswordSetting } from '../../accounts/password-reset.js';
import { UserDeletion } from '../../accounts/user-deletion.js';
import { UserExport } from '../../accounts/user-export.js';
import { UserOperations } from '../../accounts/user-operations.js';
import { OperatedOrgs } from '../../orgs/operated-orgs.js';
import { OperatedMails } from '../../operators/operated-mails.js';
import { MembersService } from '../../orgs/members/members.service.js';
import { SecondFactorRemoval } from '../../accounts/second-factor-removal.js';
import {
  RecoveryCode,
  RecoveryCodesRepository,
  SecondFactor,
  SecondFactorRows,
  SecondFactorsRepository,
} from '../../auth/second-factor/second-factors.repository.js';
import {
  SecondFactorFailures,
  SecondFactorFailuresRepository,
} from '../../auth/second-factor/second-factor-failures.repository.js';
import { EmailCode, EmailCodesRepository } from '../../auth/email-codes/email-codes.repository.js';
import { UserSessionsRepository } from '../../auth/sessions/sessions.of-user.js';
import { SessionsRepository } from '../../auth/sessions/sessions.repository.js';
import { LiftedLimit, LiftedLimitsRepository } from '../../rate-limits/lifted-limits.repository.js';
import { ShownInvitationsService } from '../../orgs/invitations/invitations.service.js';
import { UsersModule } from '../../users/user-changes.js';
import { RequestsModule } from '../../requests/writes.js';

@Injectable()
export class Services {
  constructor(
    readonly env: Env,
    readonly users: UsersRepository,
    readonly userSessions: UserSessionsRepository,
    readonly loginTraces: LoginTracesRepository,
    readonly userImport: UserImportService,
    readonly userExport: UserExport,
    readonly operations: UserOperations,
    readonly deletion: UserDeletion,
    readonly emails: EmailChanges,
    readonly passwords: PasswordSetting,
    readonly secondFactorRemoval: SecondFactorRemoval,
    readonly revocation: SessionRevocation,
    readonly orgs: OrgsRepository,
    readonly operatedOrgs: OperatedOrgs,
    readonly memberChanges: MembersService,
    readonly members: MembersRepository,
    readonly memberLists: MemberLists,
    readonly memberships: Memberships,
    readonly invitations: InvitationLists,
    readonly shownInvitations: ShownInvitationsService,
    readonly services: ServicesRepository,
    readonly serviceSecrets: ServiceSecretsRepository,
    readonly serviceChanges: ServiceChanges,
    readonly events: EventsRepository,
    readonly eventsRetention: EventsRetention,
    readonly feed: FeedService,
    readonly mails: Mails,
    readonly mailRows: MailsRepository,
    readonly operatedMails: OperatedMails,
    readonly sessions: SessionsRepository,
    readonly secondFactors: SecondFactorsRepository,
    readonly instances: InstancesRepository,
    readonly transactions: Transactions,
    private readonly codes: EmailCodesRepository,
  ) {}

  emailCodes(): EmailCodes {
    return new EmailCodes(this.codes, new KeyRing(loadKeyFile(this.env.jwtKeysFile, true)));
  }
}

const ROWS = [
  EmailCodesRepository,
  InstancesRepository,
  LiftedLimitsRepository,
  RecoveryCodesRepository,
  SecondFactorFailuresRepository,
  SecondFactorsRepository,
];

/** The modules of these tables need signing keys, which commands do not load. */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      EmailCode,
      Instance,
      LiftedLimit,
      SecondFactor,
      SecondFactorFailures,
      RecoveryCode,
    ]),
  ],
  providers: ROWS,
  exports: ROWS,
})
class RowsModule {}

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
        RowsModule,
      ],
      providers: [
        Services,
        EmailChanges,
        OperatedMails,
        OperatedOrgs,
        MembersService,
        PasswordSetting,
        SecondFactorRemoval,
        SecondFactorRows,
        ShownInvitationsService,
        UserDeletion,
        UserExport,
        UserOperations,
      ],
    };
  }
}

export function openServices<T>(env: Env, work: (services: Services) => Promise<T>): Promise<T> {
  return withDatabase(env, 'command', async (dataSource) => {
    await requireSchema(dataSource);
    const context = await NestFactory.createApplicationContext(CliModule.forRoot(env, dataSource), {
      logger: false,
      abortOnError: false,
    });
    return work(context.get(Services));
  });
}

import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { ApiKeyRoutesModule } from '../api-keys/api-key-routes.module.js';
import { HealthModule } from '../health/health.module.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { MembersModule } from '../orgs/members/members.module.js';
import { OperatorApiKeysController } from './api-keys.controller.js';
import { OperatedUsers } from './operated-changes.js';
import { OperatedMails } from './operated-mails.js';
import { OperatorEventsController } from './events.controller.js';
import { OperatorMailsController } from './mails.controller.js';
import { OperatorOrgsController } from './orgs.controller.js';
import { OperatorProvidersController } from './providers.controller.js';
import { OperatorServicesController } from './services.controller.js';
import { StatusController } from './status.controller.js';
import { UserOperationsController } from './user-operations.controller.js';
import { OperatorUsersController } from './users.controller.js';

@Module({
  imports: [ApiKeyRoutesModule, AccountsModule, HealthModule, MembersModule, OrgsModule],
  controllers: [
    StatusController,
    OperatorUsersController,
    UserOperationsController,
    OperatorOrgsController,
    OperatorEventsController,
    OperatorMailsController,
    OperatorServicesController,
    OperatorApiKeysController,
    OperatorProvidersController,
  ],
  providers: [OperatedMails, OperatedUsers],
})
export class OperatorsModule {}

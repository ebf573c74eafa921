import { Module } from '@nestjs/common';
import { MailModule } from '../mail/mail.module.js';
import { MemberRowsModule } from '../orgs/members/member-rows.module.js';
import { InvitationRowsModule } from '../orgs/invitations/invitation-rows.module.js';
import { OrgRowsModule } from '../orgs/org-rows.module.js';
import { OrgOwnersService } from '../orgs/org-owners.service.js';
import { EventsModule } from '../events/events.module.js';
import { ServicesModule } from '../services/services.module.js';
import { UsersModule } from '../users/users.module.js';
import { ChangeableUsers } from './changeable-users.js';
import { LookupsModule } from './lookups/lookups.module.js';
import { MailOperationsController } from './mail-operations.controller.js';
import { OperatedMails } from './operated-mails.js';
import { OrgOperationsController } from './org-operations.controller.js';
import { OrgOperations } from './org-operations.js';
import { ServiceOperationsController } from './service-operations.controller.js';
import { UserOperationsController } from './user-operations.controller.js';
import { UserOperations } from './user-operations.js';

/** Left out where OPERATORS_API is off, and its routes with it. */
@Module({
  imports: [
    InvitationRowsModule,
    LookupsModule,
    MailModule,
    MemberRowsModule,
    OrgRowsModule,
    EventsModule,
    ServicesModule,
    UsersModule,
  ],
  controllers: [
    MailOperationsController,
    OrgOperationsController,
    ServiceOperationsController,
    UserOperationsController,
  ],
  providers: [ChangeableUsers, OperatedMails, OrgOperations, OrgOwnersService, UserOperations],
})
export class OperatorsModule {}

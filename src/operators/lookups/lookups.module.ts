import { Module } from '@nestjs/common';
import { HealthModule } from '../../health/health.module.js';
import { MailModule } from '../../mail/mail.module.js';
import { MembersModule } from '../../orgs/members/members.module.js';
import { OrgRowsModule } from '../../orgs/org-rows.module.js';
import { EventsModule } from '../../events/events.module.js';
import { ServicesModule } from '../../services/services.module.js';
import { UsersModule } from '../../users/users.module.js';
import { MailLookupsController } from './mail-lookups.controller.js';
import { MailLookups } from './mail-lookups.js';
import { OrgLookupsController } from './org-lookups.controller.js';
import { OrgLookups } from './org-lookups.js';
import { RecordLookupsController } from './record-lookups.controller.js';
import { RecordLookups } from './record-lookups.js';
import { ServiceLookupsController } from './service-lookups.controller.js';
import { ServiceLookups } from './service-lookups.js';
import { StatusController } from './status.controller.js';
import { StatusService } from './status.service.js';
import { UserLookupsController } from './user-lookups.controller.js';
import { UserLookups } from './user-lookups.js';

@Module({
  imports: [
    HealthModule,
    MailModule,
    MembersModule,
    OrgRowsModule,
    EventsModule,
    ServicesModule,
    UsersModule,
  ],
  controllers: [
    StatusController,
    UserLookupsController,
    OrgLookupsController,
    RecordLookupsController,
    MailLookupsController,
    ServiceLookupsController,
  ],
  providers: [MailLookups, OrgLookups, RecordLookups, ServiceLookups, StatusService, UserLookups],
})
export class LookupsModule {}

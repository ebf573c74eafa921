import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { RequestsModule } from '../requests/writes.js';
import { UsersModule } from '../users/user-changes.js';
import { MembersModule } from './members/members.module.js';
import { OrgsController } from './orgs.controller.js';
import { OrgPurge, OrgsService } from './orgs.service.js';
import { OrgStateModule } from './state/org-state.module.js';

@Module({
  imports: [OrgStateModule, MembersModule, EventsModule, RequestsModule, UsersModule],
  controllers: [OrgsController],
  providers: [OrgPurge, OrgsService],
  exports: [OrgPurge, OrgsService],
})
export class OrgsModule {}

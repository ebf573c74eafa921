import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { UsersModule } from '../users/users.module.js';
import { WritesModule } from '../writes/writes.module.js';
import { DeparturesService } from './departures.service.js';
import { OrgLifeController } from './org-life.controller.js';
import { OrgLifeService } from './org-life.service.js';
import { OrgPurge } from './org-purge.js';
import { OrgsController } from './orgs.controller.js';
import { OrgsService } from './orgs.service.js';

@Module({
  imports: [EventsModule, MembershipsModule, UsersModule, WritesModule],
  controllers: [OrgsController, OrgLifeController],
  providers: [DeparturesService, OrgLifeService, OrgPurge, OrgsService],
  exports: [OrgsService],
})
export class OrgsModule {}

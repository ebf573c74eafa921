import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { UsersModule } from '../users/users.module.js';
import { WritesModule } from '../writes/writes.module.js';
import { OrgsController } from './orgs.controller.js';
import { OrgsService } from './orgs.service.js';

@Module({
  imports: [EventsModule, MembershipsModule, UsersModule, WritesModule],
  controllers: [OrgsController],
  providers: [OrgsService],
  exports: [OrgsService],
})
export class OrgsModule {}

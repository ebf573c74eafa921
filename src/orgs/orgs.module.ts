import { Module } from '@nestjs/common';
import { RecordModule } from '../record/record.module.js';
import { MembershipsModule } from './memberships.module.js';
import { UsersModule } from '../users/users.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { MembersModule } from './members/members.module.js';
import { OrgLifeController } from './org-life.controller.js';
import { OrgLifeService } from './org-life.service.js';
import { OrgPurge } from './org-purge.js';
import { OrgsController } from './orgs.controller.js';
import { OrgsService } from './orgs.service.js';
import { JobsModule } from '../jobs/jobs.module.js';

@Module({
  imports: [JobsModule, RecordModule, MembersModule, MembershipsModule, UsersModule, RequestsModule],
  controllers: [OrgsController, OrgLifeController],
  providers: [OrgLifeService, OrgPurge, OrgsService],
  exports: [OrgsService],
})
export class OrgsModule {}

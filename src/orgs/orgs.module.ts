import { Module } from '@nestjs/common';
import { MembersModule } from './members/members.module.js';
import { OperatedOrgs } from './operated-orgs.js';
import { OrgsController } from './orgs.controller.js';
import { OrgPurge, OrgsService } from './orgs.service.js';

@Module({
  imports: [MembersModule],
  controllers: [OrgsController],
  providers: [OperatedOrgs, OrgPurge, OrgsService],
  exports: [OperatedOrgs, OrgPurge],
})
export class OrgsModule {}

import { Module } from '@nestjs/common';
import { MembersModule } from './members/members.module.js';
import { OperatedOrgs } from './operated-orgs.js';
import { OrgsController } from './orgs.controller.js';
import { OrgsService } from './orgs.service.js';

@Module({
  imports: [MembersModule],
  controllers: [OrgsController],
  providers: [OperatedOrgs, OrgsService],
  exports: [OperatedOrgs],
})
export class OrgsModule {}

import { Module } from '@nestjs/common';
import { MembershipsModule } from '../memberships.module.js';
import { RateLimitsModule } from '../../rate-limits/rate-limits.module.js';
import { MemberListService } from './member-list.service.js';
import { MemberSearchService } from './member-search.service.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';

@Module({
  imports: [MembershipsModule, RateLimitsModule],
  controllers: [MembersController],
  providers: [MemberListService, MemberSearchService, MembersService],
  exports: [MembersService],
})
export class MembersModule {}

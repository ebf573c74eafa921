import { Module } from '@nestjs/common';
import { UsersModule } from '../../users/users.module.js';
import { RateLimitsModule } from '../../rate-limits/rate-limits.module.js';
import { OrgStateModule } from '../state/org-state.module.js';
import { MemberListService } from './member-list.service.js';
import { MemberSearchService } from './member-search.service.js';
import { MembershipListService } from './membership-list.service.js';
import { MembershipsController } from './memberships.controller.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { Remedies } from './remedies.js';
import { WholeLists } from './whole-lists.js';

@Module({
  imports: [OrgStateModule, RateLimitsModule, UsersModule],
  controllers: [MembersController, MembershipsController],
  providers: [
    MemberListService,
    MemberSearchService,
    MembershipListService,
    MembersService,
    Remedies,
    WholeLists,
  ],
  exports: [MemberSearchService, MembersService, Remedies, WholeLists],
})
export class MembersModule {}

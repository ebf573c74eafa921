import { Module } from '@nestjs/common';
import { RateLimitsModule } from '../../rate-limits/rate-limits.module.js';
import { UsersModule } from '../../users/user-changes.js';
import { OrgStateModule } from '../state/org-state.module.js';
import { MemberListsService } from './member-lists.service.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { RolesGuard } from './roles.guard.js';

@Module({
  imports: [OrgStateModule, RateLimitsModule, UsersModule],
  controllers: [MembersController],
  providers: [MemberListsService, MembersService, RolesGuard],
  exports: [MemberListsService, MembersService, RolesGuard],
})
export class MembersModule {}

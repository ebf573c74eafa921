import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { Member } from '../memberships/member.entity.js';
import { MembersController } from './members.controller.js';
import { MemberListService } from './member-list.service.js';
import { MembersService } from './members.service.js';
import { MembershipsService } from '../memberships/memberships.service.js';
import { RolesGuard } from '../memberships/roles.guard.js';

@Module({
  imports: [TypeOrmModule.forFeature([Member]), RateLimitsModule],
  controllers: [MembersController],
  providers: [MemberListService, MembersService, MembershipsService, RolesGuard],
  exports: [MemberListService, MembersService, RolesGuard],
})
export class MembersModule {}

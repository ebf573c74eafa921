import { Module } from '@nestjs/common';
import { MemberListsService } from './member-lists.service.js';
import { MembersController } from './members.controller.js';
import { MembersService } from './members.service.js';
import { RolesGuard } from './roles.guard.js';

@Module({
  controllers: [MembersController],
  providers: [MemberListsService, MembersService, RolesGuard],
  exports: [MemberListsService, MembersService, RolesGuard],
})
export class MembersModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { Member } from './member.entity.js';
import { MemberListRepository } from './member-list.repository.js';
import { MembersRepository } from './members.repository.js';
import { Org } from './org.entity.js';
import { MembershipChanges } from './membership-changes.js';
import { OrgsRepository } from './orgs.repository.js';
import { OwnershipRepository } from './ownership.repository.js';
import { RolesGuard } from './roles.guard.js';
import { WholeLists } from './whole-lists.js';

const PROVIDERS = [
  MemberListRepository,
  MembersRepository,
  MembershipChanges,
  OrgsRepository,
  OwnershipRepository,
  RolesGuard,
  WholeLists,
];

@Module({
  imports: [EventsModule, TypeOrmModule.forFeature([Member, Org])],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class MembershipsModule {}

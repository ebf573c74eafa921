import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { WritesModule } from '../writes/writes.module.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import { Invitation } from './invitation.entity.js';
import { InvitationFactsRepository } from './invitation-facts.repository.js';
import { InvitationListRepository } from './invitation-list.repository.js';
import { InviterRevocations } from './inviter-revocations.js';
import { InvitationsRepository } from './invitations.repository.js';
import { Member } from './member.entity.js';
import { MemberListRepository } from './member-list.repository.js';
import { MemberSearchRepository } from './member-search.repository.js';
import { MembersRepository } from './members.repository.js';
import { Org } from './org.entity.js';
import { MembershipChanges } from './membership-changes.js';
import { MembershipFactsRepository } from './membership-facts.repository.js';
import { OrgFactsRepository } from './org-facts.repository.js';
import { OrgWrites } from './org-writes.js';
import { OrgsRepository } from './orgs.repository.js';
import { OwnershipRepository } from './ownership.repository.js';
import { Remedies } from './remedies.js';
import { RolesGuard } from './roles.guard.js';
import { UserOrgsRepository } from './user-orgs.repository.js';
import { WholeLists } from './whole-lists.js';

const PROVIDERS = [
  DeletedOrgsRepository,
  InvitationFactsRepository,
  InvitationListRepository,
  InvitationsRepository,
  InviterRevocations,
  MemberListRepository,
  MemberSearchRepository,
  MembersRepository,
  MembershipChanges,
  MembershipFactsRepository,
  OrgFactsRepository,
  OrgsRepository,
  OrgWrites,
  OwnershipRepository,
  Remedies,
  RolesGuard,
  UserOrgsRepository,
  WholeLists,
];

@Module({
  imports: [EventsModule, WritesModule, TypeOrmModule.forFeature([Invitation, Member, Org])],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class MembershipsModule {}

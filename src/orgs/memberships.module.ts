import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RecordModule } from '../record/record.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { UsersModule } from '../users/users.module.js';
import { AbandonedOrgs } from './abandoned-orgs.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import { Invitation } from './invitations/invitation.entity.js';
import { InvitationFactsRepository } from './invitations/invitation-facts.repository.js';
import { InvitationListRepository } from './invitations/invitation-list.repository.js';
import { InvitationsOfUser } from './invitations/invitations-of-user.js';
import { InviterRevocations } from './invitations/inviter-revocations.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { Member } from './members/member.entity.js';
import { MemberListRepository } from './members/member-list.repository.js';
import { MemberSearchRepository } from './members/member-search.repository.js';
import { MembersRepository } from './members/members.repository.js';
import { Org } from './org.entity.js';
import { MembershipsOfUser } from './members/memberships-of-user.js';
import { LockedOrgs } from './locked-orgs.js';
import { OrgsOfUser } from './orgs-of-user.js';
import { MemberFactsRepository } from './members/member-facts.repository.js';
import { OrgChanges } from './org-changes.js';
import { OrgsRepository } from './orgs.repository.js';
import { OwnershipRepository } from './ownership.repository.js';
import { Remedies } from './members/remedies.js';
import { RolesGuard } from './roles.guard.js';
import { UserOrgsRepository } from './user-orgs.repository.js';
import { WholeLists } from './members/whole-lists.js';

const PROVIDERS = [
  DeletedOrgsRepository,
  InvitationFactsRepository,
  InvitationListRepository,
  InvitationsRepository,
  InviterRevocations,
  MemberListRepository,
  MemberSearchRepository,
  MembersRepository,
  MemberFactsRepository,
  OrgsRepository,
  OrgChanges,
  OwnershipRepository,
  Remedies,
  RolesGuard,
  UserOrgsRepository,
  WholeLists,
];

@Module({
  imports: [RecordModule, RequestsModule, TypeOrmModule.forFeature([Invitation, Member, Org]), UsersModule],
  providers: [...PROVIDERS, AbandonedOrgs, InvitationsOfUser, LockedOrgs, MembershipsOfUser, OrgsOfUser],
  exports: PROVIDERS,
})
export class MembershipsModule {}

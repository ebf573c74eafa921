import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Invitation, Member, Org } from './org.entity.js';
import { InvitationListsRepository } from './invitations.lists.js';
import { InvitationsRepository } from './invitations.repository.js';
import { MemberListsRepository } from './members.lists.js';
import { MembershipsRepository } from './members.memberships.js';
import { MembersRepository } from './members.repository.js';
import { OrgChanges } from './org-changes.js';
import { OrgDeletion } from './org-deletion.js';
import { OrgsRepository } from './orgs.repository.js';
import { SecondFactorRequirement } from './second-factor-requirement.js';
import { UserMemberships } from './user-memberships.js';

const EXPORTED = [
  InvitationListsRepository,
  InvitationsRepository,
  MemberListsRepository,
  MembershipsRepository,
  MembersRepository,
  OrgChanges,
  OrgDeletion,
  OrgsRepository,
  SecondFactorRequirement,
  UserMemberships,
];

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Invitation, Member, Org])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class OrgStateModule {}

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
import { UserDepartures } from './user-departures.js';

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
  UserDepartures,
];

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Invitation, Member, Org])],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class OrgStateModule {}

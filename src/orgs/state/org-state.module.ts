import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../../events/events.module.js';
import { RequestsModule } from '../../requests/requests.module.js';
import { UsersModule } from '../../users/users.module.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import { InvitationListRepository } from './invitation-list.repository.js';
import { Invitation } from './invitation.entity.js';
import { InvitationsOfUser } from './invitations-of-user.js';
import { InvitationsRepository } from './invitations.repository.js';
import { InviterRevocations } from './inviter-revocations.js';
import { MemberEmails } from './member-emails.js';
import { MemberListRepository } from './member-list.repository.js';
import { MemberSearchRepository } from './member-search.repository.js';
import { Member } from './member.entity.js';
import { MembershipListRepository } from './membership-list.repository.js';
import { MembersRepository } from './members.repository.js';
import { OrgChanges } from './org-changes.js';
import { OrgListRepository } from './org-list.repository.js';
import { Org } from './org.entity.js';
import { OrgsOfUser } from './orgs-of-user.js';
import { OrgsRepository } from './orgs.repository.js';
import { OwnershipRepository } from './ownership.repository.js';
import { UserOrgsRepository } from './user-orgs.repository.js';

const EXPORTED = [
  DeletedOrgsRepository,
  InvitationListRepository,
  InvitationsRepository,
  MemberListRepository,
  MemberSearchRepository,
  MembershipListRepository,
  MembersRepository,
  OrgChanges,
  OrgListRepository,
  OrgsRepository,
  OwnershipRepository,
  UserOrgsRepository,
];

/** The rows of organizations, members and invitations, and the one way to change them. */
@Module({
  imports: [EventsModule, RequestsModule, TypeOrmModule.forFeature([Invitation, Member, Org]), UsersModule],
  providers: [...EXPORTED, InvitationsOfUser, InviterRevocations, MemberEmails, OrgsOfUser],
  exports: EXPORTED,
})
export class OrgStateModule {}

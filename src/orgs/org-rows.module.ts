import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { UsersModule } from '../users/users.module.js';
import { DeletedOrgsRepository } from './deleted-orgs.repository.js';
import { InvitationRowsModule } from './invitations/invitation-rows.module.js';
import { Member } from './members/member.entity.js';
import { OrgChanges } from './org-changes.js';
import { Org } from './org.entity.js';
import { OrgListRepository } from './org-list.repository.js';
import { OrgsOfUser } from './orgs-of-user.js';
import { OrgsRepository } from './orgs.repository.js';
import { OwnershipRepository } from './ownership.repository.js';
import { UserOrgsRepository } from './user-orgs.repository.js';

const EXPORTED = [
  DeletedOrgsRepository,
  OrgChanges,
  OrgListRepository,
  OrgsRepository,
  OwnershipRepository,
  UserOrgsRepository,
];

/** Members and invitations lock organizations, and OrgsModule builds upon both, so it cannot hold what they need. */
@Module({
  imports: [
    InvitationRowsModule,
    EventsModule,
    RequestsModule,
    TypeOrmModule.forFeature([Member, Org]),
    UsersModule,
  ],
  providers: [...EXPORTED, OrgsOfUser],
  exports: EXPORTED,
})
export class OrgRowsModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsersModule } from '../../users/users.module.js';
import { MemberEmails } from './member-emails.js';
import { MemberListRepository } from './member-list.repository.js';
import { MemberSearchRepository } from './member-search.repository.js';
import { Member } from './member.entity.js';
import { MembershipListRepository } from './membership-list.repository.js';
import { MembersRepository } from './members.repository.js';

const REPOSITORIES = [
  MemberListRepository,
  MemberSearchRepository,
  MembershipListRepository,
  MembersRepository,
];

@Module({
  imports: [TypeOrmModule.forFeature([Member]), UsersModule],
  providers: [...REPOSITORIES, MemberEmails],
  exports: REPOSITORIES,
})
export class MemberRowsModule {}

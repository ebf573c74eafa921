import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsersModule } from '../../users/users.module.js';
import { InvitationListRepository } from './invitation-list.repository.js';
import { Invitation } from './invitation.entity.js';
import { InvitationsOfUser } from './invitations-of-user.js';
import { InvitationsRepository } from './invitations.repository.js';
import { InviterRevocations } from './inviter-revocations.js';

const EXPORTED = [InvitationListRepository, InvitationsRepository, InviterRevocations];

@Module({
  imports: [TypeOrmModule.forFeature([Invitation]), UsersModule],
  providers: [...EXPORTED, InvitationsOfUser],
  exports: EXPORTED,
})
export class InvitationRowsModule {}

import { Module } from '@nestjs/common';
import { MembersModule } from '../members/members.module.js';
import { InvitationAnswers } from './invitation-answers.service.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';

@Module({
  imports: [MembersModule],
  controllers: [InvitationsController],
  providers: [InvitationAnswers, InvitationsService],
  exports: [InvitationAnswers, InvitationsService],
})
export class InvitationsModule {}

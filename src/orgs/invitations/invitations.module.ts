import { Module } from '@nestjs/common';
import { EmailCodesModule } from '../../auth/email-codes/email-codes.js';
import { EventsModule } from '../../events/events.module.js';
import { MailModule } from '../../mail/mails.js';
import { RateLimitsModule } from '../../rate-limits/rate-limits.module.js';
import { UsersModule } from '../../users/user-changes.js';
import { MembersModule } from '../members/members.module.js';
import { OrgStateModule } from '../state/org-state.module.js';
import { InvitationAnswers } from './invitation-answers.service.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';

@Module({
  imports: [
    EmailCodesModule,
    MembersModule,
    OrgStateModule,
    MailModule,
    RateLimitsModule,
    EventsModule,
    UsersModule,
  ],
  controllers: [InvitationsController],
  providers: [InvitationAnswers, InvitationsService],
  exports: [InvitationAnswers, InvitationsService],
})
export class InvitationsModule {}

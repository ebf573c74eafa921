import { Global, Module } from '@nestjs/common';
import { EmailCodesModule } from '../../auth/email-codes/email-codes.module.js';
import { RegistrationInvitations } from '../../auth/registration-invitations.js';
import { EventsModule } from '../../events/events.module.js';
import { MailModule } from '../../mail/mail.module.js';
import { OrgStateModule } from '../state/org-state.module.js';
import { RateLimitsModule } from '../../rate-limits/rate-limits.module.js';
import { UsersModule } from '../../users/users.module.js';
import { ExpiredInvitations } from './expired-invitations.js';
import { InvitationListsService } from './invitation-lists.service.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';
import { InvitedRegistrations } from './invited-registrations.js';
import { Joinings } from './joinings.js';
import { TypedCodes } from './typed-codes.js';
import { JobsModule } from '../../clean-up/jobs.module.js';

/** Global, so that registrations in `auth`, which this module builds upon, get the export. */
@Global()
@Module({
  imports: [
    EmailCodesModule,
    OrgStateModule,
    JobsModule,
    MailModule,
    RateLimitsModule,
    EventsModule,
    UsersModule,
  ],
  controllers: [InvitationsController],
  providers: [
    { provide: RegistrationInvitations, useClass: InvitedRegistrations },
    ExpiredInvitations,
    InvitationListsService,
    InvitationsService,
    Joinings,
    TypedCodes,
  ],
  exports: [InvitationListsService, Joinings, RegistrationInvitations, TypedCodes],
})
export class InvitationsModule {}

import { Global, Module } from '@nestjs/common';
import { RegistrationInvitations } from '../auth/registration-invitations.js';
import { EventsModule } from '../events/events.module.js';
import { MailModule } from '../mail/mail.module.js';
import { InvitationMails } from '../memberships/invitation-mails.js';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { ExpiredInvitations } from './expired-invitations.js';
import { InvitationListsService } from './invitation-lists.service.js';
import { InvitationsController } from './invitations.controller.js';
import { InvitationsService } from './invitations.service.js';
import { InvitedRegistrations } from './invited-registrations.js';
import { Joinings } from './joinings.js';
import { OwnInvitationsController } from './own-invitations.controller.js';
import { OwnInvitationsService } from './own-invitations.service.js';
import { TypedCodes } from './typed-codes.js';

/** Global, so that registrations in `auth`, which this module builds upon, get the export. */
@Global()
@Module({
  imports: [EventsModule, MailModule, MembershipsModule, RateLimitsModule, UsersModule],
  controllers: [InvitationsController, OwnInvitationsController],
  providers: [
    { provide: RegistrationInvitations, useClass: InvitedRegistrations },
    ExpiredInvitations,
    InvitationListsService,
    InvitationMails,
    InvitationsService,
    Joinings,
    OwnInvitationsService,
    TypedCodes,
  ],
  exports: [RegistrationInvitations],
})
export class InvitationsModule {}

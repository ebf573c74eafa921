import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { EmailCodesModule } from '../auth/email-codes/email-codes.js';
import { SecondFactorModule } from '../auth/second-factor/second-factor.module.js';
import { MailModule } from '../mail/mails.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { InvitationsModule } from '../orgs/invitations/invitations.controller.js';
import { OrgsModule } from '../orgs/orgs.controller.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { EventsModule } from '../events/events.module.js';
import { RequestsModule } from '../requests/writes.js';
import { UsersModule } from '../users/user-changes.js';
import { MeController } from './me.controller.js';
import { MeService } from './me.service.js';
import { OwnCredentialsController, PasswordRecoveryController } from './own-credentials.controller.js';
import { OwnInvitationsController } from './own-invitations.controller.js';
import { OwnProfileController } from './own-profile.controller.js';

@Module({
  imports: [
    AccountsModule,
    EmailCodesModule,
    SecondFactorModule,
    OrgStateModule,
    InvitationsModule,
    MailModule,
    OrgsModule,
    RateLimitsModule,
    EventsModule,
    RequestsModule,
    UsersModule,
  ],
  controllers: [
    MeController,
    OwnProfileController,
    OwnInvitationsController,
    OwnCredentialsController,
    PasswordRecoveryController,
  ],
  providers: [MeService],
})
export class MeModule {}

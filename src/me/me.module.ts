import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/accounts.module.js';
import { EmailCodesModule } from '../auth/email-codes/email-codes.js';
import { SecondFactorModule } from '../auth/second-factor/second-factor.module.js';
import { MailModule } from '../mail/mails.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { InvitationsModule } from '../orgs/invitations/invitations.module.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { EventsModule } from '../events/events.module.js';
import { RequestsModule } from '../requests/writes.js';
import { UsersModule } from '../users/user-changes.js';
import { AccountView } from './views.js';
import { MeController, OwnOrgsController } from './me.controller.js';
import { MeView, OwnOrgList, OwnOrgsService } from './own-orgs.service.js';
import {
  OwnAccountController,
  OwnEventsController,
  OwnExportController,
  OwnSessionsController,
} from './own-account.controller.js';
import { OwnCredentialsController, OwnEmailController } from './own-credentials.controller.js';
import { OwnExportService } from './own-export.service.js';
import { OwnInvitationsController } from './own-invitations.controller.js';
import { PasswordRecoveryController } from './password-recovery.controller.js';

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
    OwnAccountController,
    OwnEmailController,
    OwnEventsController,
    OwnExportController,
    OwnInvitationsController,
    OwnOrgsController,
    OwnCredentialsController,
    OwnSessionsController,
    PasswordRecoveryController,
  ],
  providers: [AccountView, MeView, OwnExportService, OwnOrgList, OwnOrgsService],
})
export class MeModule {}

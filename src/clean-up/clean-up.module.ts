import { Module } from '@nestjs/common';
import { EmailCodesModule } from '../auth/email-codes/email-codes.module.js';
import { SessionsModule } from '../auth/sessions/sessions.module.js';
import { EventsModule } from '../events/events.module.js';
import { MailModule } from '../mail/mail.module.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { CleanUp } from './clean-up.js';

@Module({
  imports: [
    EmailCodesModule,
    EventsModule,
    MailModule,
    OrgsModule,
    OrgStateModule,
    RateLimitsModule,
    RequestsModule,
    SessionsModule,
  ],
  providers: [CleanUp],
})
export class CleanUpModule {}

import { Module } from '@nestjs/common';
import { EmailCodesModule } from '../auth/email-codes/email-codes.module.js';
import { MailModule } from '../mail/mail.module.js';
import { SmtpSender } from '../mail/smtp-sender.js';
import { OrgStateModule } from '../orgs/state/org-state.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { MailTexts } from './mail-texts.js';
import { MailWorker } from './mail-worker.js';

/** Sends what waits; commands leave that to the service. */
@Module({
  imports: [EmailCodesModule, OrgStateModule, MailModule, RateLimitsModule, UsersModule],
  providers: [MailTexts, MailWorker, SmtpSender],
})
export class MailDeliveryModule {}

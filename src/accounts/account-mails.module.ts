import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { MailComposer } from '../mail/mail-composer.js';
import { MailCounts } from '../mail/mail-counts.js';
import { MailModule } from '../mail/mail.module.js';
import { MailWorker } from '../mail/mail-worker.js';
import { SmtpSender } from '../mail/smtp-sender.js';
import { InvitationMails } from '../memberships/invitation-mails.js';
import { MembershipsModule } from '../memberships/memberships.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountMailComposer } from './account-mail-composer.js';
import { CodeMailLimit } from './code-mail-limit.js';
import { EmailProofs } from './email-proofs.js';
import { OwnEmailController } from './own-email.controller.js';
import { OwnEmailService } from './own-email.service.js';
import { PasswordChanges } from './password-changes.js';
import { PasswordRecoveryController } from './password-recovery.controller.js';
import { PasswordRecoveryService } from './password-recovery.service.js';

@Module({
  imports: [EventsModule, MailModule, MembershipsModule, RateLimitsModule, UsersModule],
  controllers: [PasswordRecoveryController, OwnEmailController],
  providers: [
    { provide: MailComposer, useClass: AccountMailComposer },
    CodeMailLimit,
    EmailProofs,
    InvitationMails,
    MailCounts,
    MailWorker,
    OwnEmailService,
    PasswordChanges,
    PasswordRecoveryService,
    SmtpSender,
  ],
})
export class AccountMailsModule {}

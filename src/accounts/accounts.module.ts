import { Module } from '@nestjs/common';
import { MailComposer } from '../mail/mail-composer.js';
import { MailCounts } from '../mail/mail-counts.js';
import { MailModule } from '../mail/mail.module.js';
import { MailWorker } from '../mail/mail-worker.js';
import { SmtpSender } from '../mail/smtp-sender.js';
import { AbandonedOrgs } from '../orgs/abandoned-orgs.js';
import { InvitationMails } from '../orgs/invitations/invitation-mails.js';
import { LockedOrgs } from '../orgs/locked-orgs.js';
import { MembershipsModule } from '../orgs/memberships.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { RecordModule } from '../record/record.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountDeletionService } from './account-deletion.service.js';
import { AccountMailComposer } from './account-mail-composer.js';
import { EmailProofs } from './email-proofs.js';

@Module({
  imports: [MailModule, MembershipsModule, RateLimitsModule, RecordModule, RequestsModule, UsersModule],
  providers: [
    { provide: MailComposer, useClass: AccountMailComposer },
    AbandonedOrgs,
    AccountDeletionService,
    EmailProofs,
    InvitationMails,
    LockedOrgs,
    MailCounts,
    MailWorker,
    SmtpSender,
  ],
  exports: [AccountDeletionService, EmailProofs],
})
export class AccountsModule {}

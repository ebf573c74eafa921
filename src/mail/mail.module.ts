import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Mail } from './mail.entity.js';
import { MailLimitsRepository } from './mail-limits.repository.js';
import { MailComposers } from './mail-composers.js';
import { Mails } from './mails.js';
import { MailListRepository, MailsRepository } from './mails.repository.js';
import { MailsOfUser } from './mails-of-user.js';
import { OldMails } from './old-mails.js';
import { MailRetries } from './mail-retries.js';
import { EventsModule } from '../events/events.module.js';
import { UsersModule } from '../users/users.module.js';
import { JobsModule } from '../clean-up/jobs.module.js';

/** Accepts emails, and what composes them. MailDeliveryModule sends them. */
@Module({
  imports: [JobsModule, EventsModule, TypeOrmModule.forFeature([Mail]), UsersModule],
  providers: [
    MailComposers,
    MailRetries,
    Mails,
    MailLimitsRepository,
    MailListRepository,
    MailsOfUser,
    MailsRepository,
    OldMails,
  ],
  exports: [MailComposers, MailRetries, Mails, MailLimitsRepository, MailListRepository, MailsRepository],
})
export class MailModule {}

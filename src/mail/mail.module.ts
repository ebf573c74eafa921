import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../clean-up/jobs.module.js';
import { EventsModule } from '../events/events.module.js';
import { UsersModule } from '../users/users.module.js';
import { Mail } from './mail.entity.js';
import { Mails } from './mails.js';
import { MailsOfUser } from './mails-of-user.js';
import { MailsRepository } from './mails.repository.js';
import { OldMails } from './old-mails.js';

/** Accepts emails. MailDeliveryModule sends them. */
@Module({
  imports: [JobsModule, EventsModule, TypeOrmModule.forFeature([Mail]), UsersModule],
  providers: [Mails, MailsOfUser, MailsRepository, OldMails],
  exports: [Mails, MailsRepository],
})
export class MailModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { UsersModule } from '../users/users.module.js';
import { JobsModule } from '../clean-up/jobs.module.js';

/** Accepts emails. MailDeliveryModule sends them. */
@Module({
  imports: [JobsModule, EventsModule, TypeOrmModule.forFeature([Mail]), UsersModule],
  providers: [Mails, MailsOfUser, MailsRepository, OldMails],
  exports: [Mails, MailsRepository],
})
export class MailModule {}

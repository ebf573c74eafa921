import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EventsModule } from '../events/events.module.js';
import { Mail } from './mail.entity.js';
import { Mails } from './mails.js';
import { MailsRepository } from './mails.repository.js';

/** Accepts emails. MailDeliveryModule sends them. */
@Module({
  imports: [EventsModule, TypeOrmModule.forFeature([Mail])],
  providers: [Mails, MailsRepository],
  exports: [Mails, MailsRepository],
})
export class MailModule {}

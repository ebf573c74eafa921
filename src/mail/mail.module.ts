import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Mail } from './mail.entity.js';
import { MailLimitsRepository } from './mail-limits.repository.js';
import { Mails } from './mails.js';
import { OldMails } from './old-mails.js';
import { MailsRepository } from './mails.repository.js';
import { JobsModule } from '../jobs/jobs.module.js';

/** Accepts mails. The worker is provided elsewhere, because it needs a MailComposer. */
@Module({
  imports: [JobsModule, TypeOrmModule.forFeature([Mail])],
  providers: [Mails, MailLimitsRepository, MailsRepository, OldMails],
  exports: [Mails, MailLimitsRepository, MailsRepository],
})
export class MailModule {}

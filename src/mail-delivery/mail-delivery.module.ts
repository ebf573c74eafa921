import { Module } from '@nestjs/common';
import { MailCounts, MailWorker } from './mail-worker.js';
import { MailModule } from '../mail/mail.module.js';
import { SmtpSender } from '../mail/smtp-sender.js';

/** Sends what waits; commands leave that to the service. */
@Module({ imports: [MailModule], providers: [MailCounts, MailWorker, SmtpSender] })
export class MailDeliveryModule {}

import { Module } from '@nestjs/common';
import { MailCounts } from './mail-counts.js';
import { MailModule } from './mail.module.js';
import { MailWorker } from './mail-worker.js';
import { SmtpSender } from './smtp-sender.js';

/** Sends what waits; commands leave that to the service. */
@Module({ imports: [MailModule], providers: [MailCounts, MailWorker, SmtpSender] })
export class MailWorkerModule {}

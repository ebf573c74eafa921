import { Module } from '@nestjs/common';
import { Env } from '../config/env.js';
import { createSender, SmtpSender } from '../mail/smtp-sender.js';
import { MailTexts } from './mail-texts.js';
import { MailWorker } from './mail-worker.js';

@Module({
  providers: [MailTexts, MailWorker, { provide: SmtpSender, inject: [Env], useFactory: createSender }],
})
export class MailDeliveryModule {}

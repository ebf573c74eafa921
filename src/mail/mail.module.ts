import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Mail } from './mail.entity.js';
import { Mails } from './mails.js';
import { MailsRepository } from './mails.repository.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Mail])],
  providers: [Mails, MailsRepository],
  exports: [Mails, MailsRepository],
})
export class MailModule {}

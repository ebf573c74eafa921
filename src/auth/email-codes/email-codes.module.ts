import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../../clean-up/jobs.module.js';
import { MailModule } from '../../mail/mail.module.js';
import { UsersModule } from '../../users/users.module.js';
import { EmailCode } from './email-code.entity.js';
import { EmailCodes } from './email-codes.js';
import { EmailCodesOfUser } from './email-codes-of-user.js';
import { EmailCodesRepository } from './email-codes.repository.js';
import { OldEmailCodes } from './old-email-codes.js';

@Module({
  imports: [TypeOrmModule.forFeature([EmailCode]), JobsModule, MailModule, UsersModule],
  providers: [EmailCodes, EmailCodesOfUser, EmailCodesRepository, OldEmailCodes],
  exports: [EmailCodes, EmailCodesRepository],
})
export class EmailCodesModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobsModule } from '../../clean-up/jobs.module.js';
import { EmailCode } from './email-code.entity.js';
import { EmailCodes } from './email-codes.js';
import { EmailCodesRepository } from './email-codes.repository.js';
import { OldEmailCodes } from './old-email-codes.js';

@Module({
  imports: [TypeOrmModule.forFeature([EmailCode]), JobsModule],
  providers: [EmailCodes, EmailCodesRepository, OldEmailCodes],
  exports: [EmailCodes, EmailCodesRepository],
})
export class EmailCodesModule {}

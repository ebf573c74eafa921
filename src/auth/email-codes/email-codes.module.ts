import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EmailCode } from './email-code.entity.js';
import { EmailCodes } from './email-codes.js';
import { EmailCodesRepository } from './email-codes.repository.js';

@Module({
  imports: [TypeOrmModule.forFeature([EmailCode])],
  providers: [EmailCodes, EmailCodesRepository],
  exports: [EmailCodes, EmailCodesRepository],
})
export class EmailCodesModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EmailCode, EmailCodesRepository } from './email-codes.repository.js';
import { EmailCodes } from './email-codes.js';

@Module({
  imports: [TypeOrmModule.forFeature([EmailCode])],
  providers: [EmailCodes, EmailCodesRepository],
  exports: [EmailCodes, EmailCodesRepository],
})
export class EmailCodesModule {}

import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { EmailCodes } from './email-codes.js';
import { EmailCode, EmailCodesRepository } from './email-codes.repository.js';

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([EmailCode])],
  providers: [EmailCodes, EmailCodesRepository],
  exports: [EmailCodes, EmailCodesRepository],
})
export class EmailCodesModule {}

import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';
import { NormalizedPassword } from '../../auth/passwords/normalized-password.decorator.js';
import { SecondFactorCode } from '../../auth/dto/second-factor-code.decorator.js';

export class DeleteAccountRequest {
  /** @example "correct horse battery" */
  @ApiProperty({ format: 'password', minLength: 1 })
  @NormalizedPassword()
  @IsString()
  @IsNotEmpty()
  password: string;

  /** A code of the second factor, required where the account has one: six digits of the app, or a recovery code. */
  @SecondFactorCode()
  code?: string;
}

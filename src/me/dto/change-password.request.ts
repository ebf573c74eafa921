import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';
import { IsAcceptablePassword } from '../../auth/passwords/is-acceptable-password.decorator.js';
import { NormalizedPassword } from '../../auth/passwords/normalized-password.decorator.js';
import { SecondFactorCode } from '../../auth/dto/second-factor-code.decorator.js';

export class ChangePasswordRequest {
  /** @example "correct horse battery" */
  @ApiProperty({ format: 'password', minLength: 1 })
  @NormalizedPassword()
  @IsString()
  @IsNotEmpty()
  currentPassword: string;

  /**
   * The new password, under the rules of registration.
   * @example "an engine weaves algebraic patterns"
   */
  @NormalizedPassword()
  @IsAcceptablePassword()
  newPassword: string;

  /** A code of the second factor, required where the account has one: six digits of the app, or a recovery code. */
  @SecondFactorCode()
  code?: string;
}

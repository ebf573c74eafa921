import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';
import { NormalizedPassword } from '../../auth/passwords/normalized-password.decorator.js';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';
import { SecondFactorCode } from '../../auth/dto/second-factor-code.decorator.js';

export class ChangeEmailRequest {
  /**
   * The new e-mail.
   * @example "ada.lovelace@example.com"
   */
  @IsEmailAddress()
  email: string;

  /**
   * The current password.
   * @example "correct horse battery"
   */
  @ApiProperty({ format: 'password', minLength: 1 })
  @NormalizedPassword()
  @IsString()
  @IsNotEmpty()
  password: string;

  /** A code of the second factor, required where the account has one: six digits of the app, or a recovery code. */
  @SecondFactorCode()
  code?: string;
}

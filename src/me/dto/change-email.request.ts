import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';
import { NormalizedPassword } from '../../auth/passwords/normalized-password.decorator.js';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';

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
}

import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { IsAcceptablePassword } from '../../auth/passwords/is-acceptable-password.decorator.js';
import { NormalizedPassword } from '../../auth/passwords/normalized-password.decorator.js';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';

export class ResetPasswordRequest {
  /** @example "ada@example.com" */
  @IsEmailAddress()
  email: string;

  /**
   * The mailed code. Case, spaces and hyphens make no difference.
   * @example "7K2M9-QX4TB"
   */
  @ApiProperty({ minLength: 10, maxLength: 64 })
  @IsString()
  code: string;

  /**
   * The new password, under the rules of registration.
   * @example "a compiler in the attic"
   */
  @NormalizedPassword()
  @IsAcceptablePassword()
  newPassword: string;
}

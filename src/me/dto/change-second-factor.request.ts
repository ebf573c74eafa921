import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';
import { NormalizedPassword } from '../../auth/passwords/normalized-password.decorator.js';

/** The password and a code, since either alone may be stolen. */
export class ChangeSecondFactorRequest {
  /** @example "correct horse battery" */
  @ApiProperty({ format: 'password', minLength: 1 })
  @NormalizedPassword()
  @IsString()
  @IsNotEmpty()
  password: string;

  /**
   * The six digits that the authenticator app shows, or a recovery code. Case, spaces and hyphens make no difference.
   * @example "492039"
   */
  @ApiProperty({ minLength: 6, maxLength: 64 })
  @IsString()
  code: string;
}

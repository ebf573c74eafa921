import { IsAcceptablePassword } from '../passwords/is-acceptable-password.decorator.js';
import { NormalizedPassword } from '../passwords/normalized-password.decorator.js';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, ValidateIf } from 'class-validator';
import { DeviceName } from './device-name.decorator.js';
import { Refreshable } from './refreshable.decorator.js';

export class RegisterRequest {
  /**
   * Case-insensitive; an internationalized domain is converted to its ASCII form.
   * @example "ada@example.com"
   */
  @IsEmailAddress()
  email: string;

  /**
   * 8 to 128 characters (Unicode code points; the minimum is configurable), not a common password, not the
   * e-mail. Any character, spaces kept.
   * @example "correct horse battery"
   */
  @NormalizedPassword()
  @IsAcceptablePassword()
  password: string;

  /** Asks for a refresh token; tokens then live for 15 minutes unless configured otherwise. */
  @Refreshable()
  refresh?: boolean;

  /** What the user calls this device: 1 to 60 characters after trimming. The list of sessions shows it. */
  @DeviceName()
  deviceName?: string;

  /**
   * Of an invitation to this e-mail: the account joins the organization. Case, spaces and hyphens make no difference;
   * null: none.
   */
  @ApiPropertyOptional({ type: String, minLength: 10, maxLength: 64, nullable: true, example: null })
  @ValidateIf(({ invitationCode = null }: RegisterRequest) => invitationCode !== null)
  @IsString({ message: 'must be a string' })
  invitationCode?: string | null;
}

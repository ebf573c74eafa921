import { IsAcceptablePassword } from '../passwords/is-acceptable-password.decorator.js';
import { NormalizedPassword } from '../passwords/normalized-password.decorator.js';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, ValidateIf } from 'class-validator';
import { DeviceName } from './device-name.decorator.js';
import { Refreshable } from './refreshable.decorator.js';

export class RegisterRequest {
  /**
   * Case makes no difference. An internationalized domain is converted to its ASCII form.
   * @example "ada@example.com"
   */
  @IsEmailAddress()
  email: string;

  /**
   * A password of 8 to 128 characters (Unicode code points; the minimum is configurable) that is neither a common
   * password nor the e-mail. Every character is allowed, and spaces are kept.
   * @example "correct horse battery"
   */
  @NormalizedPassword()
  @IsAcceptablePassword()
  password: string;

  /** Requests a refresh token. Access tokens are then valid for 15 minutes unless configured otherwise. */
  @Refreshable()
  refresh?: boolean;

  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  @DeviceName()
  deviceName?: string;

  /**
   * The code of an invitation to this e-mail, by which the account joins the organization; null if there is none.
   * Case, spaces and hyphens make no difference.
   */
  @ApiPropertyOptional({ type: String, minLength: 10, maxLength: 64, nullable: true, example: null })
  @ValidateIf(({ invitationCode = null }: RegisterRequest) => invitationCode !== null)
  @IsString({ message: 'must be a string' })
  invitationCode?: string | null;
}

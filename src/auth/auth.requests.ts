import { ValidateIf } from 'class-validator';
import { IsText } from '../http/fields.js';
import { IsEmailAddress, IsProfileField } from '../users/user.fields.js';
import { DeviceName, Refreshable } from './sessions/sessions.requests.js';
import { IsAcceptablePassword, IsPassword } from './passwords/password.decorators.js';
import { A_CHALLENGE } from '../openapi/decorators.js';

export class LoginRequest {
  /** Email of the user. Case makes no difference. */
  @IsEmailAddress('ada@example.com') email: string;
  @IsPassword() password: string;
  @Refreshable() refresh?: boolean;
  @DeviceName() deviceName?: string;
}

export class RegisterRequest {
  /** Case makes no difference. An internationalized domain is converted to its ASCII form. */
  @IsEmailAddress('ada@example.com') email: string;

  /**
   * A password of 8 to 128 characters (Unicode code points; the minimum is configurable) that is neither a common
   * password nor the email. Every character is allowed, and spaces are kept.
   */
  @IsAcceptablePassword('correct horse battery') password: string;

  @IsProfileField('name') name?: string | null;
  @IsProfileField('locale') locale?: string | null;
  @Refreshable() refresh?: boolean;
  @DeviceName() deviceName?: string;

  /**
   * The code of an invitation to this email, by which the user joins the organization. Null if there is none. Case,
   * spaces and hyphens make no difference.
   */
  @ValidateIf(({ invitationCode = null }: RegisterRequest) => invitationCode !== null)
  @IsText(10, 64, { nullable: true, example: null })
  invitationCode?: string | null;
}

export class CompleteLoginRequest {
  /** The `challenge` of the first step, which expires after 5 minutes. */
  @IsText(1, undefined, { example: A_CHALLENGE }) challenge: string;

  /** A TOTP code of six digits, or a recovery code. Case, spaces and hyphens make no difference. */
  @IsText(6, 64, { example: '492 039' }) code: string;

  @Refreshable() refresh?: boolean;
  @DeviceName(' The default is the name in the first step.') deviceName?: string;
}

export class RequestPasswordResetRequest {
  @IsEmailAddress('ada@example.com') email: string;
}

export class ResetPasswordRequest {
  @IsEmailAddress('ada@example.com') email: string;

  /** The emailed code. Case, spaces and hyphens make no difference. */
  @IsText(10, 64, { example: '7K2M9-QX4TB' }) code: string;

  /** The new password, under the rules of registration. */
  @IsAcceptablePassword('a compiler in the attic') newPassword: string;
}

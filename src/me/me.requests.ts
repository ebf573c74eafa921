import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { IsAcceptablePassword, IsPassword } from '../auth/passwords/password.decorators.js';
import { IsEmailAddress } from '../users/email.decorators.js';
import { SecondFactorCode } from '../auth/auth.requests.js';
import { IfGiven, IsText, PageCursor, PageLimit } from '../http/fields.js';

export class BeginSecondFactorRequest {
  @IsPassword() password: string;
}

export class ChangeEmailRequest {
  /** The new email. */
  @IsEmailAddress('ada.lovelace@example.com') email: string;

  /** The current password. */
  @IsPassword() password: string;

  @SecondFactorCode() code?: string;
}

export class ChangePasswordRequest {
  @IsPassword() currentPassword: string;

  /** The new password, under the rules of registration. */
  @IsAcceptablePassword('an engine weaves algebraic patterns') newPassword: string;

  @SecondFactorCode() code?: string;
}

/** The password and a code, since either alone may be stolen. */
export class ChangeSecondFactorRequest {
  @IsPassword() password: string;

  /**
   * The six digits that the authenticator app shows, or a recovery code. Case, spaces and hyphens make no difference.
   */
  @IsText(6, 64, { example: '492039' }) code: string;
}

export class ConfirmSecondFactorRequest {
  /** The six digits that the authenticator app shows. Spaces make no difference. */
  @IsText(6, 64, { example: '492039' }) code: string;
}

export class DeleteAccountRequest {
  @IsPassword() password: string;

  @SecondFactorCode() code?: string;
}

export class EndSessionsQuery {
  /** whether the session of the token ends, too */
  @ApiProperty({ type: Boolean })
  @IfGiven()
  @ValidateBy({
    name: 'isBooleanText',
    validator: {
      validate: (value) => value === 'true' || value === 'false',
      defaultMessage: () => 'must be true or false',
    },
  })
  all?: string;
}

export class ListOwnOrgsQuery {
  @PageLimit('organizations') limit?: string;
  @PageCursor() cursor?: string;
}

export class VerifyEmailRequest {
  /** The emailed code. Case, spaces and hyphens make no difference. */
  @IsText(10, 64, { example: '7K2M9-QX4TB' }) code: string;
}

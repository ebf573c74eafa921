import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsNotEmpty, IsString, ValidateBy, ValidateIf } from 'class-validator';
import { IsAcceptablePassword, NormalizedPassword } from '../auth/passwords/password.decorators.js';
import { IsEmailAddress } from '../users/email.decorators.js';
import { SecondFactorCode } from '../auth/auth.requests.js';
import { DEFAULT_LIMIT } from '../http/pages.js';
import { PageCursor, PageLimit } from '../http/fields.js';

export class BeginSecondFactorRequest {
  /** @example "correct horse battery" */
  @ApiProperty({ format: 'password', minLength: 1 })
  @NormalizedPassword()
  @IsString()
  @IsNotEmpty()
  password: string;
}

export class ChangeEmailRequest {
  /**
   * The new email.
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

export class ConfirmSecondFactorRequest {
  /**
   * The six digits that the authenticator app shows. Spaces make no difference.
   * @example "492039"
   */
  @ApiProperty({ minLength: 6, maxLength: 64 })
  @IsString()
  code: string;
}

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

export class EndSessionsQuery {
  /** whether the session of the token ends, too */
  @ApiPropertyOptional({ type: Boolean })
  @ValidateIf((query: EndSessionsQuery) => query.all !== undefined)
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
  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of organizations on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}

export class VerifyEmailRequest {
  /**
   * The emailed code. Case, spaces and hyphens make no difference.
   * @example "7K2M9-QX4TB"
   */
  @ApiProperty({ minLength: 10, maxLength: 64 })
  @IsString()
  code: string;
}

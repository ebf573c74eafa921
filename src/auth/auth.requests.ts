import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsNotEmpty, IsString, ValidateIf } from 'class-validator';
import { IsOneLine } from '../http/fields.js';
import { IsEmailAddress } from '../users/email.decorators.js';
import { IsAcceptablePassword, NormalizedPassword } from './passwords/password.decorators.js';
import { A_CHALLENGE } from '../openapi/problem-schemas.js';

export const MAX_DEVICE_NAME = 60;

/** The user's name for the device, shown in the list of their sessions. */
const DeviceName = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: String,
      minLength: 1,
      maxLength: MAX_DEVICE_NAME,
      example: "Ada's laptop",
    }),
    ValidateIf((body: { deviceName?: unknown }) => body.deviceName !== undefined),
    IsOneLine(MAX_DEVICE_NAME),
  );

/** Whether a new session gets a refresh token, and then tokens of a short life. */
const Refreshable = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: Boolean, example: true }),
    ValidateIf((body: { refresh?: unknown }) => body.refresh !== undefined),
    IsBoolean({ message: 'must be true or false' }),
  );

/** A code beside the password, which a service demands where the account has a second factor. */
export const SecondFactorCode = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: String, minLength: 6, maxLength: 64, example: '492 039' }),
    ValidateIf((body: { code?: unknown }) => body.code !== undefined),
    IsString(),
  );

export class LoginRequest {
  /** @example "ada@example.com" */
  @IsEmailAddress()
  email: string;

  /** @example "correct horse battery" */
  @ApiProperty({ format: 'password', minLength: 1 })
  @NormalizedPassword()
  @IsString()
  @IsNotEmpty()
  password: string;

  /** Requests a refresh token. Access tokens are then valid for 15 minutes unless configured otherwise. */
  @Refreshable()
  refresh?: boolean;

  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  @DeviceName()
  deviceName?: string;
}

export class RegisterRequest {
  /**
   * Case makes no difference. An internationalized domain is converted to its ASCII form.
   * @example "ada@example.com"
   */
  @IsEmailAddress()
  email: string;

  /**
   * A password of 8 to 128 characters (Unicode code points; the minimum is configurable) that is neither a common
   * password nor the email. Every character is allowed, and spaces are kept.
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
   * The code of an invitation to this email, by which the account joins the organization; null if there is none.
   * Case, spaces and hyphens make no difference.
   */
  @ApiPropertyOptional({ type: String, minLength: 10, maxLength: 64, nullable: true, example: null })
  @ValidateIf(({ invitationCode = null }: RegisterRequest) => invitationCode !== null)
  @IsString({ message: 'must be a string' })
  invitationCode?: string | null;
}

export class SecondStepRequest {
  /** The challenge that the right password got, within 5 minutes. */
  @ApiProperty({ minLength: 1, example: A_CHALLENGE })
  @IsString()
  challenge: string;

  /**
   * The six digits that the authenticator app shows, or a recovery code. Case, spaces and hyphens make no difference.
   * @example "492 039"
   */
  @ApiProperty({ minLength: 6, maxLength: 64 })
  @IsString()
  code: string;

  /** Requests a refresh token. Access tokens are then valid for 15 minutes unless configured otherwise. */
  @Refreshable()
  refresh?: boolean;

  /** The user's name for this device, of 1 to 60 characters after trimming. The list of sessions shows it. */
  @DeviceName()
  deviceName?: string;
}

export class ForgotPasswordRequest {
  /** @example "ada@example.com" */
  @IsEmailAddress()
  email: string;
}

export class ResetPasswordRequest {
  /** @example "ada@example.com" */
  @IsEmailAddress()
  email: string;

  /**
   * The emailed code. Case, spaces and hyphens make no difference.
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

import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Equals, IsBoolean, IsNotEmpty, IsString, Matches, ValidateIf } from 'class-validator';
import { IsOneLine } from '../http/is-one-line.decorator.js';
import { IsEmailAddress } from '../users/email.decorators.js';
import { IsAcceptablePassword, NormalizedPassword } from './passwords/password.decorators.js';
import { A_CHALLENGE } from '../openapi/problem-schemas.js';
import { ApiBase64Url } from '../openapi/decorators.js';
import { SERVICE_NAME } from '../services/service-name.js';

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

export const REFRESH_TOKEN = '^[0-9a-f-]{36}\\.[1-9][0-9]{0,9}\\.[A-Za-z0-9_-]{43}$';
export const A_REFRESH_TOKEN =
  '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e.1.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';

export class RefreshRequest {
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  @IsString()
  refreshToken: string;
}

export class LogoutRequest {
  /** Names the session to end, in place of an access token. */
  @ApiPropertyOptional({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  @ValidateIf((body: LogoutRequest) => body.refreshToken !== undefined)
  @IsString()
  refreshToken?: string;
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

const CHALLENGE = /^[\w-]{43}$/;

const hasChallenge = ({ codeChallenge, codeChallengeMethod }: IssueCodeRequest): boolean =>
  codeChallenge !== undefined || codeChallengeMethod !== undefined;

/** Both fields of PKCE or none: they bind the code to the holder of the verifier (RFC 7636). */
export class IssueCodeRequest {
  /**
   * base64url of the SHA-256 of the verifier
   * @example "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
   */
  @ApiBase64Url(43, { required: false })
  @ValidateIf(hasChallenge)
  @Matches(CHALLENGE, { message: 'must be 43 base64url characters' })
  codeChallenge?: string;

  /** @example "S256" */
  @ValidateIf(hasChallenge)
  @Equals('S256', { message: 'must be S256' })
  codeChallengeMethod?: 'S256';

  /**
   * name of the one service that may exchange the code
   * @example "billing"
   */
  @ApiPropertyOptional({ pattern: SERVICE_NAME.source })
  @ValidateIf(({ audience }: IssueCodeRequest) => audience !== undefined)
  @Matches(SERVICE_NAME, { message: 'must be the name of a service' })
  audience?: string;
}

export class ExchangeCodeRequest {
  /** @example "3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo" */
  @ApiBase64Url(43)
  @IsString()
  code: string;

  /**
   * The verifier (RFC 7636 section 4.1). Required if the code was issued with a challenge.
   * @example "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
   */
  @ApiPropertyOptional({ pattern: '^[A-Za-z0-9._~-]+$', minLength: 43, maxLength: 128 })
  @ValidateIf((body: ExchangeCodeRequest) => body.codeVerifier !== undefined)
  @IsString()
  codeVerifier?: string;
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

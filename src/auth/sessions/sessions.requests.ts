import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsString, Matches, ValidateIf } from 'class-validator';
import { ApiBase64Url } from '../../openapi/decorators.js';
import { SERVICE_NAME, SERVICE_NEEDED } from '../../services/service-secrets.js';
import { IfGiven, IsFlag, IsOneLine, IsText } from '../../http/fields.js';

export const REFRESH_TOKEN = '^[0-9a-f-]{36}\\.[1-9][0-9]{0,9}\\.[A-Za-z0-9_-]{43}$';
export const A_REFRESH_TOKEN =
  '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e.1.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';

export class RefreshRequest {
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  @IsString()
  refreshToken: string;
}

export class LogoutRequest {
  /** The refresh token of the session to revoke. Send it instead of an access token. */
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  @IfGiven()
  @IsString()
  refreshToken?: string;
}

export const CHALLENGE = /^[\w-]{43}$/;

const hasChallenge = ({ codeChallenge, codeChallengeMethod }: IssueCodeRequest): boolean =>
  codeChallenge !== undefined || codeChallengeMethod !== undefined;

/** Both fields of PKCE or none: they bind the code to the holder of the verifier (RFC 7636). */
export class IssueCodeRequest {
  /** The PKCE challenge: the SHA-256 of the verifier in base64url. */
  @ApiBase64Url(43, { example: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' })
  @ValidateIf(hasChallenge)
  @Matches(CHALLENGE, { message: 'must be 43 base64url characters' })
  codeChallenge?: string;

  /** @example "S256" */
  @ValidateIf(hasChallenge)
  @Equals('S256', { message: 'must be S256' })
  codeChallengeMethod?: 'S256';

  /** Name of the one service that may exchange the code. The default is any service. */
  @ApiProperty({ pattern: SERVICE_NAME.source, example: 'billing' })
  @IfGiven()
  @Matches(SERVICE_NAME, { message: SERVICE_NEEDED })
  audience?: string;
}

export class ExchangeCodeRequest {
  @ApiBase64Url(43, { example: '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo' })
  @IsString()
  code: string;

  /**
   * The verifier (RFC 7636 section 4.1). Required if the code was issued with a challenge.
   * @example "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
   */
  @ApiProperty({ pattern: '^[A-Za-z0-9._~-]+$', minLength: 43, maxLength: 128 })
  @IfGiven()
  @IsString()
  codeVerifier?: string;
}

export const MAX_DEVICE_NAME = 60;

export const DeviceName = (otherwise = ''): PropertyDecorator =>
  applyDecorators(
    IfGiven(),
    IsOneLine(MAX_DEVICE_NAME, {
      description:
        `The user's name for this device, of 1 to ${MAX_DEVICE_NAME} characters after trimming. ` +
        `The list of sessions shows it.${otherwise}`,
      example: "Ada's laptop",
    }),
  );

export const Refreshable = (): PropertyDecorator =>
  IsFlag({
    description:
      'If true, the response contains a refresh token, and access tokens expire after 15 minutes (configurable). The ' +
      'default is false.',
    example: true,
  });

/** A code in addition to the password, or to what a provider confirmed. */
export const SecondFactorCode = (): PropertyDecorator =>
  applyDecorators(
    IfGiven(),
    IsText(6, 64, {
      description: 'A TOTP code or a recovery code. Required if two-factor authentication is on.',
      example: '492 039',
    }),
  );

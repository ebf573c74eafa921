import { ApiProperty } from '@nestjs/swagger';
import { Equals, IsInt, Matches, Max, Min } from 'class-validator';
import { IfGiven, IsOneLine, IsText, ReadBy } from '../../http/fields.js';
import { ApiBase64Url } from '../../openapi/decorators.js';
import { DeviceName, Refreshable, SecondFactorCode, CHALLENGE } from '../sessions/sessions.requests.js';
import { IsPassword } from '../passwords/password.decorators.js';

/** No `localhost`, which can lead elsewhere (RFC 8252 section 8.3). A URL parser would read much else as 127.0.0.1. */
const LOOPBACK_URI = /^http:\/\/(?:127\.0\.0\.1|\[::1\]):([1-9]\d{3,4})(?!.*\/\/)(?:\/[\w.~/-]{0,99})?$/;
const MIN_PORT = 1024;
const MAX_PORT = 65_535;

const REDIRECT_URI_EXPECTED =
  'must be http://127.0.0.1 or http://[::1] with a port from 1024 to 65535, and a path of at most 100 characters or none';

export function readRedirectUri(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const port = Number(LOOPBACK_URI.exec(value)?.[1]);
  return port >= MIN_PORT && port <= MAX_PORT ? value : undefined;
}

const MAX_LOGIN_HINT = 254;
const MAX_MAX_AGE = 86_400;
const SECONDS = `must be a whole number from 0 to ${MAX_MAX_AGE}`;

export class StartProviderLoginRequest {
  /** The PKCE challenge: the SHA-256 of the verifier in base64url. `finish` needs the verifier. */
  @ApiBase64Url(43, { example: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' })
  @Matches(CHALLENGE, { message: 'must be 43 base64url characters' })
  codeChallenge: string;

  /** @example "S256" */
  @Equals('S256', { message: 'must be S256' })
  codeChallengeMethod: 'S256';

  /**
   * Loopback address at which the program waits for the browser: `http://127.0.0.1` or `http://[::1]`, a port from 1024
   * to 65535, and a path of at most 100 characters or none. Without it, the browser shows a code to paste.
   */
  @ApiProperty({ minLength: 1, maxLength: 123, example: 'http://127.0.0.1:49152/login' })
  @IfGiven()
  @ReadBy(readRedirectUri, REDIRECT_URI_EXPECTED)
  redirectUri?: string;

  /** Email or name that the provider may fill in. */
  @IfGiven()
  @IsOneLine(MAX_LOGIN_HINT, { example: 'ada@example.com' })
  loginHint?: string;

  /**
   * Maximum number of seconds since the user authenticated at the provider. If more have passed, the provider asks
   * again. The default is the session of the user at the provider, whatever its age.
   */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: MAX_MAX_AGE, example: 300 })
  @IfGiven()
  @IsInt({ message: SECONDS })
  @Min(0, { message: SECONDS })
  @Max(MAX_MAX_AGE, { message: SECONDS })
  maxAge?: number;
}

export class FinishProviderLoginRequest {
  /** The code of the redirect, or the code that the user pasted. */
  @IsText(1, undefined, { example: '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo' }) code: string;

  /** The verifier of the start (RFC 7636 section 4.1). */
  @IsText(1, undefined, { example: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' }) codeVerifier: string;

  @Refreshable() refresh?: boolean;
  @DeviceName() deviceName?: string;

  /** Password of the user, after `link_required`. */
  @IfGiven() @IsPassword() password?: string;

  @SecondFactorCode() secondFactorCode?: string;
}

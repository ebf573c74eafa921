import { ApiProperty, ApiResponse } from '@nestjs/swagger';
import { A_REFRESH_TOKEN, REFRESH_TOKEN } from './sessions/sessions.requests.js';
import { EXPIRY, TokenResponse } from './sessions/sessions.responses.js';
import { UserDto } from '../users/user.fields.js';
import { ApiCount, ApiText, ApiTime } from '../openapi/decorators.js';

const ADA = { email: 'ada@example.com', password: 'correct horse battery' };
const GRACE = { email: 'grace@example.com', password: 'a compiler in the attic' };
/** The requests with which the README begins. */
export const REGISTRATIONS = {
  ada: { summary: 'Ada', value: ADA },
  grace: { summary: 'Grace, whom Ada adds', value: GRACE },
};

export const LOGINS = {
  plain: { summary: 'an access token', value: ADA },
  refresh: { summary: 'a short-lived access token and a refresh token', value: { ...ADA, refresh: true } },
};

export class LoginResponse extends TokenResponse {
  user: UserDto;

  /** Time at which the access token expires. Present if the request had `refresh: true`. */
  @ApiTime({ example: EXPIRY }) expiresAt?: string;

  /** The refresh token. Present if the request had `refresh: true`. */
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN }) refreshToken?: string;
}

export const ApiSignIn = (status: number): MethodDecorator => ApiResponse({ status, type: LoginResponse });

export class AuthConfigResponse {
  /** Who can register: everyone, people with an invitation, or nobody. Operators can always create users. */
  @ApiProperty({ enum: ['open', 'invited', 'closed'], example: 'open' })
  registration: 'open' | 'invited' | 'closed';

  /** Value `required` if users can do nothing before they have verified their email. */
  @ApiProperty({ enum: ['optional', 'required'], example: 'optional' })
  emailVerification: 'optional' | 'required';

  /** Minimum length of a password in Unicode code points. */
  @ApiCount({ example: 8, minimum: 8 }) passwordMinLength: number;

  /** Whether Accounts sends emails, such as reset codes. */
  @ApiProperty({ example: true }) emailEnabled: boolean;

  /** Claim `iss` of access tokens. */
  @ApiText(1, undefined, { example: 'accounts' }) issuer: string;

  /** Claim `aud` of access tokens that are not bound to one service. */
  @ApiText(1, undefined, { example: 'accounts' }) tokenAudience: string;
}

import { ApiProperty } from '@nestjs/swagger';
import { A_REFRESH_TOKEN, REFRESH_TOKEN } from './sessions/sessions.requests.js';
import { EXPIRY, TokenResult } from './sessions/sessions.responses.js';
import { UserResponse } from '../users/user.fields.js';
import { ApiTime, ApiUnion } from '../openapi/decorators.js';

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

class SignIn extends TokenResult {
  user: UserResponse;
}

/** Answers a request with `refresh`. */
class RefreshableSignIn extends SignIn {
  /** time at which the token expires */
  @ApiTime({ example: EXPIRY }) expiresAt: string;
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN }) refreshToken: string;
}

export type SignInResult = SignIn | RefreshableSignIn;

export const ApiSignIn = (status: number): MethodDecorator =>
  ApiUnion(status, 'SignInResult', SignIn, RefreshableSignIn);

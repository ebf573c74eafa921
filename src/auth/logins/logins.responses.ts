import { ApiProperty, ApiResponse } from '@nestjs/swagger';
import { ApiTime } from '../../openapi/decorators.js';
import { UserDto } from '../../users/user.fields.js';
import { A_REFRESH_TOKEN, REFRESH_TOKEN } from '../sessions/sessions.requests.js';
import { EXPIRY, TokenResponse } from '../sessions/sessions.responses.js';

export class LoginResponse extends TokenResponse {
  user: UserDto;

  /** Time at which the access token expires. Present if the request had `refresh: true`. */
  @ApiTime({ example: EXPIRY }) expiresAt?: string;

  /** The refresh token. Present if the request had `refresh: true`. */
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN }) refreshToken?: string;
}

export const ApiSignIn = (status: number): MethodDecorator => ApiResponse({ status, type: LoginResponse });

import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, ValidateIf } from 'class-validator';
import { A_REFRESH_TOKEN, REFRESH_TOKEN } from './refresh.request.js';

export class LogoutRequest {
  /** Names the session to end, in place of an access token. */
  @ApiPropertyOptional({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  @ValidateIf((body: LogoutRequest) => body.refreshToken !== undefined)
  @IsString()
  refreshToken?: string;
}

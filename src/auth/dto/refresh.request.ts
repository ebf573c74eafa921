import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';

export const REFRESH_TOKEN = '^[0-9a-f-]{36}\\.[1-9][0-9]{0,9}\\.[A-Za-z0-9_-]{43}$';
export const A_REFRESH_TOKEN =
  '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e.1.3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo';

export class RefreshRequest {
  @ApiProperty({ pattern: REFRESH_TOKEN, example: A_REFRESH_TOKEN })
  @IsString()
  refreshToken: string;
}

import { ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { A_CHALLENGE } from '../../openapi/problem-schemas.js';
import { DeviceName } from './device-name.decorator.js';
import { Refreshable } from './refreshable.decorator.js';

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

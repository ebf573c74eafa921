import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';
import { NormalizedPassword } from '../passwords/normalized-password.decorator.js';
import { DeviceName } from './device-name.decorator.js';
import { Refreshable } from './refreshable.decorator.js';

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

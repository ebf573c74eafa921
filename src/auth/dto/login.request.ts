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

  /** Asks for a refresh token; tokens then live for 15 minutes unless configured otherwise. */
  @Refreshable()
  refresh?: boolean;

  /** What the user calls this device: 1 to 60 characters after trimming. The list of sessions shows it. */
  @DeviceName()
  deviceName?: string;
}

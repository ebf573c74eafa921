import { IsNotEmpty, IsString } from 'class-validator';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';
import { NormalizedPassword } from '../passwords/normalized-password.decorator.js';

export class LoginDto {
  /** @example "ada@example.com" */
  @IsEmailAddress()
  email: string;

  /** @example "correct horse battery staple" */
  @NormalizedPassword()
  @IsString()
  @IsNotEmpty()
  password: string;
}

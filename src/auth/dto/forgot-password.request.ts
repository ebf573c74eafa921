import { IsEmailAddress } from '../../users/is-email-address.decorator.js';

export class ForgotPasswordRequest {
  /** @example "ada@example.com" */
  @IsEmailAddress()
  email: string;
}

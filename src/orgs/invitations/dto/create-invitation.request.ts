import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { INVITED_ROLES, type InvitedRole } from '../invitation.entity.js';
import { IsEmailAddress } from '../../../users/is-email-address.decorator.js';
import { ResendInvitationRequest } from './resend-invitation.request.js';

export class CreateInvitationRequest extends ResendInvitationRequest {
  /**
   * e-mail to invite, with or without an account
   * @example "grace@example.com"
   */
  @IsEmailAddress()
  email: string;

  @ApiProperty({ enum: INVITED_ROLES, example: 'member' })
  @IsIn(INVITED_ROLES, { message: 'must be member or admin' })
  role: InvitedRole;
}

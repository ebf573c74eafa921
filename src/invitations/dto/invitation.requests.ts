import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, ValidateIf } from 'class-validator';
import { INVITED_ROLES, type InvitedRole } from '../../memberships/invitation.entity.js';
import { IsEmailAddress } from '../../users/is-email-address.decorator.js';

export class ResendInvitationRequest {
  /** The answer has the code, once, instead of a mail: hand it over yourself. */
  @ApiPropertyOptional({ type: Boolean, example: true })
  @ValidateIf(({ showCode }: ResendInvitationRequest) => showCode !== undefined)
  @IsBoolean({ message: 'must be true or false' })
  showCode?: boolean;
}

export class CreateInvitationRequest extends ResendInvitationRequest {
  /**
   * of an account, or of somebody who has none yet
   * @example "grace@example.com"
   */
  @IsEmailAddress()
  email: string;

  @ApiProperty({ enum: INVITED_ROLES, example: 'member' })
  @IsIn(INVITED_ROLES, { message: 'must be member or admin' })
  role: InvitedRole;
}

export class AnswerInvitationRequest {
  /**
   * Of the invitation, while the e-mail is not verified. Case, spaces and hyphens make no difference.
   * @example "7K2M9-QX4TB"
   */
  @ApiPropertyOptional({ minLength: 10, maxLength: 64 })
  @ValidateIf(({ code }: AnswerInvitationRequest) => code !== undefined)
  @IsString({ message: 'must be a string' })
  code?: string;
}

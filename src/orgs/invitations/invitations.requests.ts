import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, ValidateIf } from 'class-validator';
import {
  INVITATION_STATUSES,
  type InvitationStatus,
  INVITED_ROLES,
  type InvitedRole,
} from '../state/invitation.entity.js';
import { IsEmailAddress } from '../../users/email.decorators.js';
import { DEFAULT_LIMIT } from '../../http/pages.js';
import { PageCursor, PageLimit } from '../../http/fields.js';

export class AnswerByCodeRequest {
  /**
   * The code of the invitation. Case, spaces and hyphens make no difference.
   * @example "7K2M9-QX4TB"
   */
  @ApiProperty({ minLength: 10, maxLength: 64 })
  @IsString({ message: 'must be a string' })
  code: string;
}

export class AnswerInvitationRequest {
  /**
   * The code of the invitation. Required while the email is not verified. Case, spaces and hyphens make no difference.
   * @example "7K2M9-QX4TB"
   */
  @ApiPropertyOptional({ minLength: 10, maxLength: 64 })
  @ValidateIf(({ code }: AnswerInvitationRequest) => code !== undefined)
  @IsString({ message: 'must be a string' })
  code?: string;
}

export class ResendInvitationRequest {
  /** Returns the code in the answer, only this once, instead of mailing it, so that you can hand it over yourself. */
  @ApiPropertyOptional({ type: Boolean, example: true })
  @ValidateIf(({ showCode }: ResendInvitationRequest) => showCode !== undefined)
  @IsBoolean({ message: 'must be true or false' })
  showCode?: boolean;
}

export class CreateInvitationRequest extends ResendInvitationRequest {
  /**
   * email to invite, with or without an account
   * @example "grace@example.com"
   */
  @IsEmailAddress()
  email: string;

  @ApiProperty({ enum: INVITED_ROLES, example: 'member' })
  @IsIn(INVITED_ROLES, { message: 'must be member or admin' })
  role: InvitedRole;
}

export class ListOwnInvitationsQuery {
  @PageLimit({ default: DEFAULT_LIMIT, description: 'maximum number of invitations on a page' })
  limit?: string;

  @PageCursor()
  cursor?: string;
}

export class ListInvitationsQuery extends ListOwnInvitationsQuery {
  @ApiProperty({
    enum: INVITATION_STATUSES,
    enumName: 'InvitationStatus',
    required: false,
    description: 'status of the invitations to list',
  })
  @ValidateIf((query: ListInvitationsQuery) => query.status !== undefined)
  @IsIn(INVITATION_STATUSES, { message: 'must be an invitation status' })
  status?: InvitationStatus;
}

import {
  INVITATION_STATUSES,
  type InvitationStatus,
  INVITED_ROLES,
  type InvitedRole,
} from '../state/org.entity.js';
import { IsEmailAddress } from '../../users/user.fields.js';
import { IfGiven, IsFlag, IsOneOf, IsText, PageCursor, PageLimit } from '../../http/fields.js';

export const INVITATION_PARAM = {
  name: 'invitationId',
  type: String,
  format: 'uuid',
  description: 'Id of the invitation, from its creation or from a list of invitations.',
};

export class AnswerInvitationByCodeRequest {
  /** The code of the invitation. Case, spaces and hyphens make no difference. */
  @IsText(10, 64, { example: '7K2M9-QX4TB' }) code: string;
}

export class AnswerInvitationRequest {
  /**
   * The code of the invitation. Required while the email is not verified. Case, spaces and hyphens make no difference.
   */
  @IfGiven()
  @IsText(10, 64, { example: '7K2M9-QX4TB' })
  code?: string;
}

export class ResendInvitationRequest {
  /** If true, the response contains the code, which is not shown again, and no email is sent. The default is false. */
  @IsFlag({ example: true }) showCode?: boolean;
}

export class CreateInvitationRequest extends ResendInvitationRequest {
  /** The email to invite, whether or not a user has it. */
  @IsEmailAddress('grace@example.com') email: string;

  @IsOneOf(INVITED_ROLES, 'must be member or admin', { example: 'member' }) role: InvitedRole;
}

export class ListOwnInvitationsQuery {
  @PageLimit('invitations') limit?: string;
  @PageCursor() cursor?: string;
}

export class ListInvitationsQuery extends ListOwnInvitationsQuery {
  /** Status of the invitations to list. The default is every status. */
  @IfGiven()
  @IsOneOf(INVITATION_STATUSES, 'must be an invitation status', { enumName: 'InvitationStatus' })
  status?: InvitationStatus;
}

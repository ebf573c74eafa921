import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { INVITATION_STATUSES, type InvitationStatus } from '../invitation.entity.js';
import { DEFAULT_LIMIT } from '../../../http/pages.js';
import { PageCursor, PageLimit } from '../../../http/page-query.decorators.js';

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

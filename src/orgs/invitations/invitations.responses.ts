import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import type { Role } from '../../access/principal.js';
import {
  INVITATION_STATUSES,
  type InvitationStatus,
  INVITED_ROLES,
  type InvitedRole,
} from '../state/org.entity.js';
import { ApiEmail, ApiId, ApiNextCursor, ApiRole, ApiTime } from '../../openapi/decorators.js';
import { OrgDto } from '../state/orgs.responses.js';
import { ApiProfileField } from '../../users/user.fields.js';

const INVITED_BY = { userId: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', email: 'ada@example.com' };
const LISTED = {
  id: '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e',
  email: 'grace@example.com',
  role: 'member',
  status: 'pending',
  createdAt: '2026-11-22T09:00:00.000Z',
  expiresAt: '2026-11-29T09:00:00.000Z',
  invitedBy: INVITED_BY,
};
const RECEIVED = {
  ...Object.fromEntries(Object.entries(LISTED).filter(([name]) => name !== 'email')),
  org: { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines' },
};

export class Inviter {
  @ApiId() userId: string;

  /** Email of the inviter. Null if the user was deleted. */
  @ApiEmail({ nullable: true }) email: string | null;
}

/** The inviter as the invited user sees them. */
@ApiSchema({ name: 'InviterProfile' })
export class InviterProfileDto {
  @ApiProfileField('name') name: string | null;

  /** Email of the inviter. Null if the user was deleted. */
  @ApiEmail({ nullable: true }) email: string | null;
}

class AnyInvitation {
  @ApiId({ example: '019a8f3e-8d4f-7b32-9d5e-7f9a1b3c4d5e' }) id: string;
  @ApiProperty({ enum: INVITED_ROLES, example: 'member' }) role: InvitedRole;
  @ApiProperty({ enum: INVITATION_STATUSES, enumName: 'InvitationStatus' }) status: InvitationStatus;
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) createdAt: string;

  /** Time at which the invitation expires: seven days after its current code was created. */
  @ApiTime({ example: '2026-11-29T09:00:00.000Z' }) expiresAt: string;

  /** The user who created or last resent the invitation. */
  @ApiProperty({ type: Inviter, example: INVITED_BY }) invitedBy: Inviter;
}

@ApiSchema({ name: 'InvitationSummary' })
export class InvitationSummaryDto extends AnyInvitation {
  @ApiEmail({ example: 'grace@example.com' }) email: string;
}

@ApiSchema({ name: 'Invitation' })
export class InvitationDto extends InvitationSummaryDto {
  /**
   * The invitation code. Present if the request had `showCode: true`. It is not returned again. A replayed response
   * (`Idempotency-Replayed`) has no code. Resend the invitation to get a new one.
   * @example "7K2M9-QX4TB"
   */
  @ApiPropertyOptional({ pattern: '^[0-9A-Z]{5}-[0-9A-Z]{5}$' })
  code?: string;
}

@ApiSchema({ name: 'ReceivedInvitation' })
export class ReceivedInvitationDto extends AnyInvitation {
  org: OrgDto;

  /** Name and email of the inviter. Present with `include=profile`. */
  inviter?: InviterProfileDto;
}

export class InvitationResponse {
  invitation: InvitationDto;
}

class AnyPage {
  @ApiNextCursor('MC4wMTlhOGYzZS04ZDRmLTdiMzItOWQ1ZS03ZjlhMWIzYzRkNWU')
  nextCursor?: string;
}

export class InvitationsResponse extends AnyPage {
  @ApiProperty({ type: [InvitationSummaryDto], example: [LISTED] })
  invitations: InvitationSummaryDto[];
}

export class ReceivedInvitationsResponse extends AnyPage {
  @ApiProperty({ type: [ReceivedInvitationDto], example: [RECEIVED] })
  invitations: ReceivedInvitationDto[];
}

export class AcceptedResponse {
  org: OrgDto;

  @ApiRole() role: Role;
}

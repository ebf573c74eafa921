import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiEmail, ApiId, ApiNextCursor, ApiRole, ApiText, ApiTime } from '../../openapi/decorators.js';
import type { Role } from '../../access/principal.js';
import { OkResult } from '../../http/fields.js';

@ApiSchema({ name: 'Org' })
export class OrgResponse {
  @ApiId({ example: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c' }) id: string;
  @ApiText(1, 100, { example: 'Analytical Engines' }) name: string;
}

/** Somebody is always an owner. */
export const MEMBERS_EXAMPLE = [
  { userId: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', email: 'ada@example.com', role: 'owner' },
  { userId: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d', email: 'grace@example.com', role: 'member' },
];

export class Membership {
  @ApiId({ example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) userId: string;
  @ApiRole() role: Role;
}

@ApiSchema({ name: 'Member' })
export class MemberResponse extends Membership {
  @ApiEmail({ example: 'grace@example.com' }) email: string;
}

export class MemberDetail extends MemberResponse {
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) joinedAt: string;
}

export class MemberDetailResult {
  member: MemberDetail;
}

export class MembersResult {
  @ApiProperty({ type: [MemberResponse], example: MEMBERS_EXAMPLE }) members: MemberResponse[];

  @ApiNextCursor(
    'MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS01YjFjLTdjNGUtOWQyYS0zZjZiOGMxZDRlNWY',
    '`cursor` of the next page; absent on the last page and from the whole list',
  )
  nextCursor?: string;
}

export class MembershipResult {
  member: Membership;
}

export class OrgDetail extends OrgResponse {
  @ApiProperty({ type: [MemberResponse], example: MEMBERS_EXAMPLE }) members: MemberResponse[];
}

export class OrgResult {
  org: OrgResponse;
}

export class OrgDeletionResult extends OkResult {
  /** end of the time in which an owner can restore the organization */
  @ApiTime({ example: '2026-12-22T09:00:00.000Z' }) purgeAt: string;
}

export class OrgDetailResult {
  org: OrgDetail;
}

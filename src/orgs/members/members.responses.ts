import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  ApiCount,
  ApiEmail,
  ApiId,
  ApiNextCursor,
  ApiRole,
  ApiText,
  ApiTime,
} from '../../openapi/decorators.js';
import type { Role } from '../../access/principal.js';
import { OkResponse } from '../../http/fields.js';
import { PublicProfileDto } from '../../users/user.fields.js';

const ORG = { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines' };

@ApiSchema({ name: 'Org' })
export class OrgDto {
  @ApiId({ example: ORG.id }) id: string;
  @ApiText(1, 100, { example: ORG.name }) name: string;
}

/** Somebody is always an owner. */
export const MEMBERS_EXAMPLE = [
  { userId: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', email: 'ada@example.com', role: 'owner' },
  { userId: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d', email: 'grace@example.com', role: 'member' },
];

/** An organization as its member sees it. */
export class OrgMembership extends OrgDto {
  /** Role of the user. Absent from `GET /api/me` without `include=roles`. */
  @ApiRole() role?: Role;

  /** Time at which the user joined. Absent from `GET /api/me`. */
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) joinedAt?: string;

  /**
   * Whether the user is suspended, because the organization requires two-factor authentication and the user has not
   * turned it on. Present with `include=requirements`.
   */
  @ApiProperty({ example: false }) suspended?: boolean;

  /**
   * Time from which the organization suspends members without two-factor authentication. Null if the organization does
   * not require it. Present with `include=requirements`.
   */
  @ApiTime({ nullable: true, example: '2100-01-01T00:00:00.000Z' }) secondFactorRequiredFrom?: string | null;

  /** Time of the deletion, which only operators see. Null if the organization is not deleted. */
  @ApiTime({ nullable: true }) deletedAt?: string | null;
}

export class MemberRole {
  @ApiId({ example: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d' }) userId: string;
  @ApiRole() role: Role;
}

@ApiSchema({ name: 'Member' })
export class MemberDto extends MemberRole {
  @ApiEmail({ example: 'grace@example.com' }) email: string;

  /** Name and picture of the member. Present with `include=profile`. */
  profile?: PublicProfileDto;
}

export class MemberDetail extends MemberDto {
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) joinedAt: string;
}

const MEMBER = { ...MEMBERS_EXAMPLE[1], joinedAt: '2026-11-22T09:00:00.000Z' };

export class MemberDetailResponse {
  @ApiProperty({ type: MemberDetail, example: MEMBER }) member: MemberDetail;
}

export class MembersResponse {
  @ApiProperty({ type: [MemberDto], example: MEMBERS_EXAMPLE }) members: MemberDto[];

  @ApiNextCursor(
    'MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS01YjFjLTdjNGUtOWQyYS0zZjZiOGMxZDRlNWY',
    'Cursor of the next page. Absent on the last page, and if the response is the whole list.',
  )
  nextCursor?: string;
}

export class MemberRoleResponse {
  member: MemberRole;
}

export class OrgWithRequirements extends OrgDto {
  /**
   * Time from which members need two-factor authentication. Null if they need none. Present if the request asks for it
   * or changes it.
   */
  @ApiTime({ nullable: true, example: '2100-01-01T00:00:00.000Z' }) secondFactorRequiredFrom?: string | null;
}

export class OrgDetail extends OrgWithRequirements {
  @ApiProperty({ type: [MemberDto], example: MEMBERS_EXAMPLE }) members: MemberDto[];
}

export class OrgResponse {
  org: OrgDto;
}

export class OrgChangeResponse {
  org: OrgWithRequirements;

  /** Number of members without two-factor authentication. Present if the request changes the requirement. */
  @ApiCount({ example: 1 }) affected?: number;
}

export class OrgDeletionResponse extends OkResponse {
  /** End of the time in which an owner can restore the organization. */
  @ApiTime({ example: '2026-12-22T09:00:00.000Z' }) purgeAt: string;
}

export class OrgDetailResponse {
  @ApiProperty({ type: OrgDetail, example: { ...ORG, members: MEMBERS_EXAMPLE } }) org: OrgDetail;
}

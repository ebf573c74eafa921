import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiEmail, ApiId, ApiNextCursor, ApiRole, ApiTime } from '../../openapi/decorators.js';
import type { Role } from '../../access/principal.js';
import { PublicProfileDto } from '../../users/user.fields.js';

/** Somebody is always an owner. */
export const MEMBERS_EXAMPLE = [
  { userId: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', email: 'ada@example.com', role: 'owner' },
  { userId: '019a8f3e-7c3e-7a21-8c4d-6e8f0a2b3c4d', email: 'grace@example.com', role: 'member' },
];

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

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Role } from '../access/principal.js';
import { ApiCount, ApiId, ApiNextCursor, ApiRole } from '../openapi/decorators.js';

const MEMBERSHIPS_EXAMPLE = [
  {
    orgId: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c',
    userId: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f',
    role: 'owner',
    orgRevision: 2,
  },
];

@ApiSchema({ name: 'OrgMembership' })
export class ListedMembershipResponse {
  @ApiId() orgId: string;
  @ApiId() userId: string;
  @ApiRole() role: Role;

  @ApiCount({ minimum: 1, description: 'state of the organization, raised by each change' })
  orgRevision: number;
}

export class MembershipListResult {
  @ApiProperty({ type: [ListedMembershipResponse], example: MEMBERSHIPS_EXAMPLE })
  memberships: ListedMembershipResponse[];

  @ApiNextCursor('MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS02YTJkLTdmMTAtOGIzYy01ZDdlOWYxYTJiM2M')
  nextCursor?: string;
}

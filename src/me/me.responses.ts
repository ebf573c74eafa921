import { ApiProperty } from '@nestjs/swagger';
import type { Role } from '../access/principal.js';
import { ApiRole, ApiTime } from '../openapi/decorators.js';
import { OrgResponse } from '../orgs/members/members.responses.js';
import { UserResponse } from '../users/user.response.js';

/** the answer without `include` */
const ME = { id: '019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f', email: 'ada@example.com' };
const ORG = { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines' };

export class Me extends UserResponse {
  /** present with `include=account` */
  @ApiProperty({ example: false }) emailVerified?: boolean;
}

export class OrgOfMe extends OrgResponse {
  /** present with `include=roles` */
  @ApiRole() role?: Role;
}

export class MeResult {
  @ApiProperty({ type: Me, example: ME }) user: Me;
  @ApiProperty({ type: [OrgOfMe], example: [ORG] }) orgs: OrgOfMe[];
}

export class AccountResult {
  user: UserResponse;

  @ApiProperty({ example: false }) emailVerified: boolean;
  @ApiTime({ example: '2026-11-22T09:00:00.000Z' }) createdAt: string;

  /** time of the last change of the password; null if there was none */
  @ApiTime({ nullable: true, example: '2026-11-22T09:30:00.000Z' }) passwordChangedAt: string | null;
}

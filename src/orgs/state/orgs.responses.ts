import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiId, ApiRole, ApiText, ApiTime } from '../../openapi/decorators.js';
import type { Role } from '../../access/principal.js';

export const ORG_EXAMPLE = { id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c', name: 'Analytical Engines' };

@ApiSchema({ name: 'Org' })
export class OrgDto {
  @ApiId({ example: ORG_EXAMPLE.id }) id: string;
  @ApiText(1, 100, { example: ORG_EXAMPLE.name }) name: string;
}

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

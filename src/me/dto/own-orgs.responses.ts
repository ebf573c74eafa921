import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Role } from '../../access/role.js';
import { ApiRole } from '../../openapi/decorators.js';
import { OrgResponse } from '../../orgs/dto/org.responses.js';

/** The creator of an organization owns it. */
const OWN_ORG = {
  id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c',
  name: 'Analytical Engines',
  role: 'owner',
  joinedAt: '2026-11-22T09:00:00.000Z',
};

export class OwnOrg extends OrgResponse {
  @ApiRole()
  role: Role;

  /** @example "2026-11-22T09:00:00.000Z" */
  @ApiProperty({ format: 'date-time' })
  joinedAt: string;
}

export class DeletedOrg extends OrgResponse {
  /** @example "2026-11-22T09:00:00.000Z" */
  @ApiProperty({ format: 'date-time' })
  deletedAt: string;

  /**
   * end of the time in which an owner can restore the organization
   * @example "2026-12-22T09:00:00.000Z"
   */
  @ApiProperty({ format: 'date-time' })
  purgeAt: string;
}

class OrgsPage {
  /**
   * `cursor` of the next page; absent on the last page
   * @example "MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS02YTJkLTdmMTAtOGIzYy01ZDdlOWYxYTJiM2M"
   */
  @ApiPropertyOptional({ pattern: '^[A-Za-z0-9_-]+$' })
  nextCursor?: string;
}

export class OwnOrgsResult extends OrgsPage {
  @ApiProperty({ type: [OwnOrg], example: [OWN_ORG] })
  orgs: OwnOrg[];
}

export class DeletedOrgsResult extends OrgsPage {
  @ApiProperty({ type: [DeletedOrg] })
  orgs: DeletedOrg[];
}

import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { OkResult } from '../http/ok.responses.js';
import { MemberResponse, MEMBERS_EXAMPLE } from './members/members.responses.js';

@ApiSchema({ name: 'Org' })
export class OrgResponse {
  /** @example "019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c" */
  @ApiProperty({ format: 'uuid' })
  id: string;

  /** @example "Analytical Engines" */
  @ApiProperty({ minLength: 1, maxLength: 100 })
  name: string;
}

export class OrgDetail extends OrgResponse {
  @ApiProperty({ type: [MemberResponse], example: MEMBERS_EXAMPLE })
  members: MemberResponse[];
}

export class OrgResult {
  org: OrgResponse;
}

export class OrgDeletionResult extends OkResult {
  /**
   * end of the time in which an owner can restore the organization
   * @example "2026-12-22T09:00:00.000Z"
   */
  @ApiProperty({ format: 'date-time' })
  purgeAt: string;
}

export class OrgDetailResult {
  org: OrgDetail;
}

import { ApiProperty } from '@nestjs/swagger';
import { ApiCount, ApiTime } from '../openapi/decorators.js';
import { OkResponse } from '../http/fields.js';
import { MemberDto, MEMBERS_EXAMPLE } from './members/members.responses.js';
import { ORG_EXAMPLE, OrgDto } from './state/orgs.responses.js';

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
  @ApiProperty({ type: OrgDetail, example: { ...ORG_EXAMPLE, members: MEMBERS_EXAMPLE } }) org: OrgDetail;
}

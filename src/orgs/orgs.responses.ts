import { ApiProperty } from '@nestjs/swagger';
import { OkResult } from '../http/fields.js';
import { MemberResponse, MEMBERS_EXAMPLE, OrgResponse } from './members/members.responses.js';
import { ApiTime } from '../openapi/decorators.js';

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

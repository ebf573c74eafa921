import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { OkResult } from '../http/ok.responses.js';
import { MemberResponse, MEMBERS_EXAMPLE } from './members/members.responses.js';
import { ApiId, ApiText, ApiTime } from '../openapi/decorators.js';

@ApiSchema({ name: 'Org' })
export class OrgResponse {
  @ApiId({ example: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c' }) id: string;
  @ApiText(1, 100, { example: 'Analytical Engines' }) name: string;
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

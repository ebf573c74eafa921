import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { MemberResponse, MEMBERS_EXAMPLE } from '../orgs/members/members.responses.js';
import { OrgResponse } from '../orgs/orgs.responses.js';
import { NextCursor } from './operation.decorators.js';

const ENGINES = {
  id: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c',
  name: 'Analytical Engines',
  createdAt: '2026-11-22T09:00:00.000Z',
  deletedAt: null,
  purgeAt: null,
};

@ApiSchema({ name: 'ListedOrg' })
export class ListedOrgResponse extends OrgResponse {
  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  /** null if the organization is not deleted */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  deletedAt: string | null;

  /** end of the time in which a deleted organization can be restored */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  purgeAt: string | null;
}

export class MemberCounts {
  @ApiProperty({ type: 'integer', minimum: 0 })
  owner: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  admin: number;

  @ApiProperty({ type: 'integer', minimum: 0 })
  member: number;
}

export class ShownOrg extends ListedOrgResponse {
  /** members with each role */
  counts: MemberCounts;
}

export class OrgListResult {
  @ApiProperty({ type: [ListedOrgResponse], example: [ENGINES] })
  orgs: ListedOrgResponse[];

  @NextCursor('MDE5YThmM2UtNmEyZC03ZjEwLThiM2MtNWQ3ZTlmMWEyYjNjL0FuYWx5dGljYWwgRW5naW5lcw')
  nextCursor?: string;
}

export class ShownOrgResult {
  @ApiProperty({ type: ShownOrg, example: { ...ENGINES, counts: { owner: 1, admin: 0, member: 2 } } })
  org: ShownOrg;
}

export class OrgMembersResult {
  @ApiProperty({ type: [MemberResponse], example: MEMBERS_EXAMPLE })
  members: MemberResponse[];

  @NextCursor('OmdyYWNlQGV4YW1wbGUuY29t')
  nextCursor?: string;
}

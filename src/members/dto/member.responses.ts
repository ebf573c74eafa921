import { type Role, ROLES } from '../../access/role.js';
import { ApiProperty } from '@nestjs/swagger';

export class MemberResponse {
  /** @example "019a8f3e-5b1c-7c4e-9d2a-3f6b8c1d4e5f" */
  userId: string;

  @ApiProperty({ enum: ROLES, example: 'admin' })
  role: Role;
}

export class ListedMemberResponse extends MemberResponse {
  /** @example "ada@example.com" */
  email: string;
}

export class MemberListResponse {
  members: ListedMemberResponse[];

  /**
   * `cursor` of the next page; absent on the last page, and where no `limit` was given
   * @example "MTc5NTIxOTIwMDEyMy4wMTlhOGYzZS01YjFjLTdjNGUtOWQyYS0zZjZiOGMxZDRlNWY"
   */
  nextCursor?: string;
}

export class ChangedMemberResponse {
  member: MemberResponse;
}

export class RemovedMemberResponse {
  /** @example true */
  ok: boolean;
}

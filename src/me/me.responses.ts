import { ApiProperty } from '@nestjs/swagger';
import { OrgResponse } from '../orgs/dto/org.responses.js';
import { UserResponse } from '../users/user.response.js';

export class MeResult {
  user: UserResponse;
  orgs: OrgResponse[];
}

export class AccountResult {
  user: UserResponse;

  /** @example false */
  @ApiProperty()
  emailVerified: boolean;

  /** @example "2026-11-22T09:00:00.000Z" */
  @ApiProperty({ format: 'date-time' })
  createdAt: string;

  /**
   * null: never since the account was made
   * @example "2026-11-22T09:30:00.000Z"
   */
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  passwordChangedAt: string | null;
}

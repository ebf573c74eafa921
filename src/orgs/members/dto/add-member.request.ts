import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IsEmailAddress } from '../../../users/is-email-address.decorator.js';

const ADDABLE_ROLES = ['member', 'admin'] as const;

export class AddMemberRequest {
  /**
   * e-mail of an existing account
   * @example "grace@example.com"
   */
  @IsEmailAddress()
  email: string;

  @ApiProperty({ enum: ADDABLE_ROLES, example: 'member' })
  @IsIn(ADDABLE_ROLES, { message: 'must be member or admin' })
  role: (typeof ADDABLE_ROLES)[number];
}

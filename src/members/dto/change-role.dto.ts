import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { type Role, ROLES } from '../../access/role.js';

export class ChangeRoleDto {
  @ApiProperty({ enum: ROLES, example: 'admin' })
  @IsIn(ROLES, { message: 'must be member, admin or owner' })
  role: Role;
}

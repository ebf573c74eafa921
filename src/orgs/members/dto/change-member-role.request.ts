import { IsIn } from 'class-validator';
import { type Role, ROLES } from '../../../access/role.js';
import { ApiRole } from '../../../openapi/decorators.js';

export class ChangeMemberRoleRequest {
  @ApiRole()
  @IsIn(ROLES, { message: 'must be member, admin or owner' })
  role: Role;
}

import { ApiProperty } from '@nestjs/swagger';
import { ROLES } from '../access/role.js';

/** Documents a property that is any role, by the one schema of roles. */
export const ApiRole = (): PropertyDecorator =>
  ApiProperty({
    enum: ROLES,
    enumName: 'Role',
    enumSchema: { description: 'from the lowest permission to the highest' },
  });

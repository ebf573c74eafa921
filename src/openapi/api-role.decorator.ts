import { ApiProperty } from '@nestjs/swagger';
import { ROLES } from '../access/role.js';

export const ApiRole = ({ required = true } = {}): PropertyDecorator =>
  ApiProperty({
    required,
    enum: ROLES,
    enumName: 'Role',
    enumSchema: { description: 'roles from the fewest permissions to the most' },
  });

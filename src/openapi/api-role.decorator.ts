import { ApiProperty } from '@nestjs/swagger';
import { ROLES } from '../access/role.js';

export const ApiRole = ({ required = true } = {}): PropertyDecorator =>
  ApiProperty({
    required,
    enum: ROLES,
    enumName: 'Role',
    enumSchema: { description: 'from the lowest permission to the highest' },
  });

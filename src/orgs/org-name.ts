import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsOneLine } from '../http/fields.js';
import { MAX_ORG_NAME } from './state/org.entity.js';

export const IsOrgName = (): PropertyDecorator =>
  applyDecorators(ApiProperty({ minLength: 1, maxLength: MAX_ORG_NAME }), IsOneLine(MAX_ORG_NAME));

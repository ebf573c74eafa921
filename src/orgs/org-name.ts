import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsOneLine } from '../http/is-one-line.decorator.js';

const MAX_CHARACTERS = 100;

export const IsOrgName = (): PropertyDecorator =>
  applyDecorators(ApiProperty({ minLength: 1, maxLength: MAX_CHARACTERS }), IsOneLine(MAX_CHARACTERS));

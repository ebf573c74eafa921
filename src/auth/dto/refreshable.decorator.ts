import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, ValidateIf } from 'class-validator';

/** Whether a new session gets a refresh token, and then tokens of a short life. */
export const Refreshable = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: Boolean, example: true }),
    ValidateIf((body: { refresh?: unknown }) => body.refresh !== undefined),
    IsBoolean({ message: 'must be true or false' }),
  );

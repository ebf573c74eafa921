import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, ValidateIf } from 'class-validator';

/** A code beside the password, which a service demands where the account has a second factor. */
export const SecondFactorCode = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: String, minLength: 6, maxLength: 64, example: '492 039' }),
    ValidateIf((body: { code?: unknown }) => body.code !== undefined),
    IsString(),
  );

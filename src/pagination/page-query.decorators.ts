import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Matches, ValidateBy, ValidateIf } from 'class-validator';
import { decodeCursor } from './cursor.js';

interface PageQuery {
  limit?: string;
  cursor?: string;
}

const LIMIT = /^(?:[1-9]\d{0,2}|1000)$/;

/** The parameter `limit`. Without a default it is required where there is a cursor. */
export function PageLimit(documentation: ApiPropertyOptions & { default?: number }): PropertyDecorator {
  const isGiven = ({ limit, cursor }: PageQuery): boolean =>
    limit !== undefined || (cursor !== undefined && documentation.default === undefined);
  return applyDecorators(
    ApiProperty({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      required: false,
      example: 100,
      ...documentation,
    } as ApiPropertyOptions),
    ValidateIf(isGiven),
    Matches(LIMIT, { message: 'must be a whole number from 1 to 1000' }),
  );
}

/** The parameter `cursor`. */
export function PageCursor(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      required: false,
      description: '`nextCursor` of the previous page',
      pattern: '^[A-Za-z0-9_-]+$',
    }),
    ValidateIf(({ cursor }: PageQuery) => cursor !== undefined),
    ValidateBy({
      name: 'isCursor',
      validator: {
        validate: (value) => typeof value === 'string' && decodeCursor(value) !== undefined,
        defaultMessage: () => 'must be the nextCursor of a page',
      },
    }),
  );
}

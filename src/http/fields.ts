import { applyDecorators, type Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { Matches, ValidateBy, ValidateIf } from 'class-validator';
import { ApiOkResponse, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { oneLine } from '../identifiers/one-line.js';
import { decodeCursor, type PageQuery } from './pages.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { LINK_HEADER } from '../openapi/responses.js';

/** Accepts text that people read, such as a name, and converts it to its stored form. */
export const IsOneLine = (maxCharacters: number): PropertyDecorator =>
  applyDecorators(
    // Give null for refused text, because an optional property may be undefined.
    Transform(({ value }: { value: unknown }) => oneLine(value, maxCharacters) ?? null),
    ValidateBy({
      name: 'isOneLine',
      validator: {
        validate: (line) => line !== null && line !== undefined,
        defaultMessage: () => `must be text of 1 to ${maxCharacters} characters without control characters`,
      },
    }),
  );

const INVALID_LIMIT = 'must be a whole number from 1 to 1000';

/** longer than one with a name of 400 bytes */
const MAX_CURSOR = 600;
const LIMIT = /^(?:[1-9]\d{0,2}|1000)$/;

/** @param hasDefault whether this query has a default limit: without one, a cursor needs a limit */
export function PageLimit(
  documentation: ApiPropertyOptions & { default?: number },
  hasDefault: (query: PageQuery) => boolean = () => documentation.default !== undefined,
): PropertyDecorator {
  const isGiven = (query: PageQuery): boolean =>
    query.limit !== undefined || (query.cursor !== undefined && !hasDefault(query));
  return applyDecorators(
    ApiProperty({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      required: false,
      ...documentation,
    } as ApiPropertyOptions),
    ValidateIf(isGiven),
    Matches(LIMIT, { message: INVALID_LIMIT }),
  );
}

/** @param isCursor whether the text comes from a page of this query */
export function PageCursor(
  isCursor: (text: string, query: PageQuery) => boolean = (text) => decodeCursor(text) !== undefined,
): PropertyDecorator {
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
        validate: (value, context) =>
          typeof value === 'string' && value.length <= MAX_CURSOR && isCursor(value, context!.object),
        defaultMessage: () => 'must be the nextCursor of a page',
      },
    }),
  );
}

export const ApiPage = (type: Type): MethodDecorator =>
  applyDecorators(
    ApiOkResponse({ type, headers: LINK_HEADER }),
    ApiProblems(invalidFields({ limit: INVALID_LIMIT })),
  );

import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { oneLine } from './one-line.js';

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

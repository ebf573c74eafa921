import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

const CONTROL = /\p{Cc}/u;

/** Bounds the text before it is normalized, which is quadratic; enough for as many characters when decomposed. */
const rawUnitsFor = (characters: number): number => 5 * characters + 12;

/** The stored form: trimmed, NFC, 1 to so many characters, no control characters. */
function oneLine(input: unknown, maxCharacters: number): string | undefined {
  if (typeof input !== 'string' || input.length > rawUnitsFor(maxCharacters) || !input.isWellFormed())
    return undefined;
  const line = input.trim().normalize('NFC');
  if (line === '' || [...line].length > maxCharacters || CONTROL.test(line) || line.includes('\uFFFD'))
    return undefined;
  return line;
}

/** Text that people read, such as a name; converted to its stored form. */
export const IsOneLine = (maxCharacters: number): PropertyDecorator =>
  applyDecorators(
    // Not undefined, which optional properties may be.
    Transform(({ value }: { value: unknown }) => oneLine(value, maxCharacters) ?? null),
    ValidateBy({
      name: 'isOneLine',
      validator: {
        validate: (line) => line !== null && line !== undefined,
        defaultMessage: () => `must be text of 1 to ${maxCharacters} characters without control characters`,
      },
    }),
  );

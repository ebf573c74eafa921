import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

const CONTROL = /\p{Cc}/u;

/** Bounds the text before it is normalized, which is quadratic; allows for that many characters when decomposed. */
const rawUnitsFor = (characters: number): number => 5 * characters + 12;

/** Returns the stored form: trimmed, in NFC, without control characters. */
export function oneLine(input: unknown, maxCharacters: number): string | undefined {
  if (typeof input !== 'string' || input.length > rawUnitsFor(maxCharacters) || !input.isWellFormed())
    return undefined;
  const line = input.trim().normalize('NFC');
  if (line === '' || [...line].length > maxCharacters || CONTROL.test(line) || line.includes('\uFFFD'))
    return undefined;
  return line;
}

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

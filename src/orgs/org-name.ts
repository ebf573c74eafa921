import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

const MAX_CHARACTERS = 100;
/** At most what 100 characters take when decomposed; bounded since normalizing is quadratic. */
const MAX_RAW_UNITS = 512;
const CONTROL = /\p{Cc}/u;

/** The stored form: trimmed, NFC, 1 to 100 characters, no control characters. */
function orgName(input: unknown): string | undefined {
  if (typeof input !== 'string' || input.length > MAX_RAW_UNITS || !input.isWellFormed()) return undefined;
  const name = input.trim().normalize('NFC');
  if (name === '' || [...name].length > MAX_CHARACTERS || CONTROL.test(name) || name.includes('\uFFFD'))
    return undefined;
  return name;
}

export const IsOrgName = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ minLength: 1, maxLength: MAX_CHARACTERS }),
    Transform(({ value }: { value: unknown }) => orgName(value)),
    ValidateBy({
      name: 'isOrgName',
      validator: {
        validate: (name) => name !== undefined,
        defaultMessage: () => `must be text of 1 to ${MAX_CHARACTERS} characters without control characters`,
      },
    }),
  );

import { Transform } from 'class-transformer';
import { normalizePassword } from './password-text.js';

/** Gives the property the result of `normalizePassword`; a value of another type is left to validation. */
export function NormalizedPassword(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? normalizePassword(value) : value,
  );
}

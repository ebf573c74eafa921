import { Transform } from 'class-transformer';
import { normalizePassword } from './password-text.js';

/** Applies `normalizePassword` to text; validation refuses other types. */
export function NormalizedPassword(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? normalizePassword(value) : value,
  );
}

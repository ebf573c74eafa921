import { Transform } from 'class-transformer';
import { normalizePassword } from './password-text.js';

export function NormalizedPassword(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? normalizePassword(value) : value,
  );
}

import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy, ValidateIf } from 'class-validator';
import { canonicalEmail, emailPrefix } from './email-address.js';

/** Replaces the property with its canonical form; refuses text that has none. */
export function IsEmailAddress(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ format: 'email', maxLength: 254 }),
    Transform(({ value }: { value: unknown }) => canonicalEmail(value)),
    ValidateBy({
      name: 'isEmailAddress',
      validator: {
        validate: (canonical: unknown) => canonical !== undefined,
        defaultMessage: () => 'must be an e-mail address',
      },
    }),
  );
}

const MAX_LENGTH = 254;
/** A search for text that no email can begin with finds nothing, like any other that finds nothing. */
const NO_BEGINNING = ' ';

export const INVALID_EMAIL_SEARCH = `must be a single text of 1 to ${MAX_LENGTH} characters`;

/** Accepts the beginning of emails as the query parameter `search`, and converts it to its canonical form. */
export const EmailSearch = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ required: false, minLength: 1, maxLength: MAX_LENGTH, description }),
    Transform(({ value }: { value: unknown }) => toPrefix(value)),
    ValidateIf(({ search }: { search?: unknown }) => search !== undefined),
    ValidateBy({
      name: 'isEmailPrefix',
      validator: {
        validate: (value) => typeof value === 'string',
        defaultMessage: () => INVALID_EMAIL_SEARCH,
      },
    }),
  );

/** @returns null for what is refused, unlike undefined, which is left out */
function toPrefix(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH) return null;
  return emailPrefix(value) ?? NO_BEGINNING;
}

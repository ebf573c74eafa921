import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { canonicalEmail } from './email-address.js';

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

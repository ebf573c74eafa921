import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';
import { canonicalEmail } from './email-address.js';

/** The property becomes the canonical form of an e-mail address; text that has none is refused. */
export function IsEmailAddress(): PropertyDecorator {
  return applyDecorators(
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

import { ValidateBy } from 'class-validator';
import { canonicalEmail } from './email-address.js';

/** The property is a string that has a canonical e-mail form; see `canonicalEmail`. */
export function IsEmailAddress(): PropertyDecorator {
  return ValidateBy({
    name: 'isEmailAddress',
    validator: {
      validate: (value: unknown) => canonicalEmail(value) !== undefined,
      defaultMessage: () => 'must be an e-mail address',
    },
  });
}

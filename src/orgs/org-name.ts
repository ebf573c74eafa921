import { ValidateBy } from 'class-validator';

const MAX_CHARACTERS = 100;
const CONTROL = /\p{Cc}/u;

/** The name as it is stored: trimmed, NFC, 1 to 100 characters, no control characters. */
export function orgName(input: unknown): string | undefined {
  if (typeof input !== 'string' || !input.isWellFormed()) return undefined;
  const name = input.trim().normalize('NFC');
  if (name === '' || [...name].length > MAX_CHARACTERS || CONTROL.test(name) || name.includes('\uFFFD'))
    return undefined;
  return name;
}

export const IsOrgName = (): PropertyDecorator =>
  ValidateBy({
    name: 'isOrgName',
    validator: {
      validate: (value) => orgName(value) !== undefined,
      defaultMessage: () => `must be text of 1 to ${MAX_CHARACTERS} characters without control characters`,
    },
  });

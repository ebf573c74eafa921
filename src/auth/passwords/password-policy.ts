import { canonicalEmail } from '../../users/email-address.js';
import { isCommonPassword } from './common-passwords.js';
import { isBroken, isTooLong } from './password-text.js';

export const MAX_CODE_POINTS = 128;

/**
 * Lengths are in Unicode code points; no composition rules (NIST SP 800-63B-4 section 3.1.1.2).
 * @param email canonical, or undefined when it is unusable and reported elsewhere
 * @returns what is wrong, for the user to read
 */
export function passwordFault(
  password: string,
  email: string | undefined,
  minLength: number,
): string | undefined {
  const tooLong = `must be at most ${MAX_CODE_POINTS} characters long`;
  if (isTooLong(password)) return tooLong;
  if (isBroken(password)) return 'must be well-formed Unicode text';
  const length = [...password].length;
  if (length < minLength) return `must be at least ${minLength} characters long`;
  if (length > MAX_CODE_POINTS) return tooLong;
  if (isCommonPassword(password)) return 'is one of the most common passwords; choose another';
  if (email !== undefined && isNamedBy(email, password)) {
    return 'must not be the e-mail address or its part before the @';
  }
  return undefined;
}

function isNamedBy(email: string, password: string): boolean {
  const local = email.slice(0, email.lastIndexOf('@'));
  return password.toLowerCase() === local || canonicalEmail(password) === email;
}

import { readFileSync } from 'node:fs';
import type { Env } from '../../config/env.js';
import { normalizedEmail } from '../../users/email-address.js';

/** 128 characters decompose into at most four units each; the bound exists because normalizing is quadratic. */
const MAX_UNITS = 512;
/** Under the `u` flag a surrogate matches only when it is unpaired. */
const BROKEN_TEXT = /[\p{Surrogate}\ufffd]/u;

/** UTF-8 encoding would make lone surrogates and U+FFFD equal to other passwords. */
export function isPasswordText(text: string): boolean {
  return text !== '' && !isTooLong(text) && !isBroken(text);
}

const isTooLong = (text: string): boolean => text.length > MAX_UNITS;

const isBroken = (text: string): boolean => BROKEN_TEXT.test(text);

/** Applies NFC (NIST SP 800-63B-4 section 3.1.1.2). Does not trim, or change text that cannot be a password. */
export function normalizePassword(text: string): string {
  return isPasswordText(text) ? text.normalize('NFC') : text;
}

const COMMON = new Set(
  readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').split(/\r?\n/),
);

/** Ignores letter case (OWASP ASVS 6.2.4). */
export function isCommonPassword(normalized: string): boolean {
  return normalized !== '' && COMMON.has(normalized.toLowerCase());
}

export const MAX_CODE_POINTS = 128;
export const COMMON_PASSWORD = 'is one of the most common passwords; choose another';

export type PasswordRules = Pick<Env, 'passwordMinLength' | 'jwtIssuer' | 'mailFrom'>;

/** Counts code points; no composition rules (NIST SP 800-63B-4 section 3.1.1.2). An unusable email is undefined. */
export function passwordFault(
  password: string,
  email: string | undefined,
  { passwordMinLength: minLength, jwtIssuer, mailFrom }: PasswordRules,
): string | undefined {
  const tooLong = `must be at most ${MAX_CODE_POINTS} characters long`;
  if (isTooLong(password)) return tooLong;
  if (isBroken(password)) return 'must be well-formed Unicode text';
  const length = [...password].length;
  if (length < minLength) return `must be at least ${minLength} characters long`;
  if (length > MAX_CODE_POINTS) return tooLong;
  if (isCommonPassword(password)) return COMMON_PASSWORD;
  if (email !== undefined && isNamedBy(email, password)) {
    return 'must not be the email address or its part before the @, once or repeated';
  }
  const names = ['accounts', jwtIssuer, hostOf(jwtIssuer), mailFrom?.name ?? ''];
  return names.some((name) => repeats(password, name))
    ? 'must not be the name of this service, once or repeated'
    : undefined;
}

function isNamedBy(email: string, password: string): boolean {
  const local = email.slice(0, email.lastIndexOf('@'));
  return repeats(password, local) || repeats(password, email) || normalizedEmail(password) === email;
}

function repeats(password: string, name: string): boolean {
  const text = folded(password);
  const word = folded(name);
  return word !== '' && text !== '' && text === word.repeat(text.length / word.length);
}

const folded = (text: string): string => text.toLowerCase().replaceAll(/\s+/g, '');

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '');

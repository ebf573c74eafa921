/** 128 characters of the longest canonical decomposition, which has four units. Normalizing is quadratic. */
const MAX_UNITS = 512;
/** Under the `u` flag a surrogate matches only where it stands alone. */
const BROKEN_TEXT = /[\p{Surrogate}\ufffd]/u;

/**
 * Whether the text can be a password at all. It is not when it is empty, longer than any password, or what
 * UTF-8 encoding would make equal to other passwords: lone surrogates and U+FFFD (broken UTF-8).
 */
export function isPasswordText(text: string): boolean {
  return text !== '' && !isTooLong(text) && !isBroken(text);
}

export const isTooLong = (text: string): boolean => text.length > MAX_UNITS;

/** Of text that is not too long. */
export const isBroken = (text: string): boolean => BROKEN_TEXT.test(text);

/**
 * The form of a password that is measured, compared and hashed: NFC (NIST SP 800-63B-4 section 3.1.1.2),
 * otherwise untouched, never trimmed. Text that can be no password stays as it is.
 */
export function normalizePassword(text: string): string {
  return isPasswordText(text) ? text.normalize('NFC') : text;
}

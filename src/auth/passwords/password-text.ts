/** 128 characters have at most four units each when decomposed; bounded since normalizing is quadratic. */
const MAX_UNITS = 512;
/** Under the `u` flag a surrogate matches only when it is unpaired. */
const BROKEN_TEXT = /[\p{Surrogate}\ufffd]/u;

/** Lone surrogates and U+FFFD are refused: UTF-8 encoding would make them equal to other passwords. */
export function isPasswordText(text: string): boolean {
  return text !== '' && !isTooLong(text) && !isBroken(text);
}

export const isTooLong = (text: string): boolean => text.length > MAX_UNITS;

export const isBroken = (text: string): boolean => BROKEN_TEXT.test(text);

/** Applies NFC (NIST SP 800-63B-4 section 3.1.1.2), but never trims. Text that cannot be a password stays as it is. */
export function normalizePassword(text: string): string {
  return isPasswordText(text) ? text.normalize('NFC') : text;
}

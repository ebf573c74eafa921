/** Under the `u` flag a surrogate matches only where it stands alone. */
const BROKEN_TEXT = /[\p{Surrogate}\ufffd]/u;

/**
 * The form of a password that is measured, compared and hashed: NFC (NIST SP 800-63B-4 section 3.1.1.2),
 * otherwise untouched, never trimmed. undefined for what no client sends on purpose and what UTF-8 encoding
 * would make equal to other passwords: the empty string, lone surrogates and U+FFFD (broken UTF-8).
 */
export function normalizePassword(input: string): string | undefined {
  if (input === '' || BROKEN_TEXT.test(input)) return undefined;
  return input.normalize('NFC');
}

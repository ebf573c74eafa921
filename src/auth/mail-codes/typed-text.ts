/** Crockford's base32 has no I, L, O or U, which are easily mistaken. */
export const CROCKFORD_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** People may type spaces and hyphens anywhere. */
const MAX_LENGTH = 64;
const TYPED = /^[\da-z -]*$/i;

/** Ignores case, spaces, hyphens and mistaken letters; returns undefined for text with anything else. */
export function typedText(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !TYPED.test(text)) return undefined;
  return text.toUpperCase().replaceAll(/[ -]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
}

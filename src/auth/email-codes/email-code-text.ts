import { timingSafeEqual } from 'node:crypto';

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

const LENGTH = 10;
const BITS = 5;
const HALF = 5;
const CODE = new RegExp(`^[${CROCKFORD_ALPHABET}]{${LENGTH}}$`);

export function emailCodeOf(mac: Buffer): string {
  const bits = mac.readBigUInt64BE();
  return Array.from({ length: LENGTH }, (_, place) => {
    const shift = 64n - BigInt(BITS * (place + 1));
    return CROCKFORD_ALPHABET[Number((bits >> shift) & 31n)];
  }).join('');
}

export function readable(code: string): string {
  return `${code.slice(0, HALF)}-${code.slice(HALF)}`;
}

/** Returns undefined for text that can be no code. */
export function typedCode(text: string): string | undefined {
  const code = typedText(text);
  return code !== undefined && CODE.test(code) ? code : undefined;
}

export function isSameCode(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

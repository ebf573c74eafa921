import { timingSafeEqual } from 'node:crypto';
import { CROCKFORD_ALPHABET, typedText } from './typed-text.js';

const LENGTH = 10;
const BITS = 5;
const HALF = 5;
const CODE = new RegExp(`^[${CROCKFORD_ALPHABET}]{${LENGTH}}$`);

export function mailCodeOf(mac: Buffer): string {
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

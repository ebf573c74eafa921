/** RFC 4648 section 6 */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS = 5;

/** Leaves out the padding, which authenticator apps do not take. */
export function base32(bytes: Uint8Array, alphabet = ALPHABET): string {
  let text = '';
  let [rest, bits] = [0, 0];
  for (const byte of bytes) {
    rest = (rest << 8) | byte;
    bits += 8;
    for (; bits >= BITS; bits -= BITS) text += alphabet[(rest >>> (bits - BITS)) & 31];
    rest &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet[(rest << (BITS - bits)) & 31];
}

import { hash, randomBytes } from 'node:crypto';
import { CROCKFORD_ALPHABET, typedText } from '../email-codes/email-code-text.js';

/** RFC 4648 section 6 */
const RFC_4648_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS = 5;
const RECOVERY_CODE_BYTES = 16;
const RECOVERY_CODE_LENGTH = 26;
const RECOVERY_CODES = 10;
const RECOVERY_CODE = new RegExp(`^[${CROCKFORD_ALPHABET}]{${RECOVERY_CODE_LENGTH}}$`);
const TOTP_CODE = /^\d{6}$/;
/** The last group also has the one character that is left over. */
const GROUPS = /.{5}(?=.{5})|.+/g;

export type TypedCode = { kind: 'totp'; digits: string } | { kind: 'recovery'; hash: string };

/** Returns undefined for text that cannot be a code. */
export function readTypedCode(text: string): TypedCode | undefined {
  const code = typedText(text);
  if (code === undefined) return undefined;
  if (TOTP_CODE.test(code)) return { kind: 'totp', digits: code };
  return RECOVERY_CODE.test(code) ? { kind: 'recovery', hash: hashOf(code) } : undefined;
}

interface NewRecoveryCodes {
  texts: string[];
  hashes: string[];
}

export function newRecoveryCodes(): NewRecoveryCodes {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(RECOVERY_CODE_BYTES), CROCKFORD_ALPHABET),
  );
  return { texts: codes.map((code) => code.match(GROUPS)!.join('-')), hashes: codes.map(hashOf) };
}

/** One pass is enough for 128 random bits. */
function hashOf(code: string): string {
  return hash('sha256', code, 'base64url');
}

/** Omits the padding, which authenticator apps do not accept. */
export function base32(bytes: Uint8Array, alphabet = RFC_4648_ALPHABET): string {
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

/** The key URI that authenticator apps read from a QR code. It also names the defaults, because some apps require them. */
export function otpauthUri({ issuer, email, secret }: Record<'issuer' | 'email' | 'secret', string>): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const issued = `issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?secret=${secret}&${issued}&algorithm=SHA1&digits=6&period=30`;
}

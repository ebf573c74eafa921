import { createHmac, createSecretKey, hash, type KeyObject, randomBytes } from 'node:crypto';
import { CROCKFORD_ALPHABET, isSameCode, typedText } from '../email-codes/email-codes.js';

const RFC_4648_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS = 5;
const RECOVERY_CODE_BYTES = 16;
const RECOVERY_CODE_LENGTH = 26;
const RECOVERY_CODES = 10;
const RECOVERY_CODE = new RegExp(`^[${CROCKFORD_ALPHABET}]{${RECOVERY_CODE_LENGTH}}$`);
const TOTP_CODE = /^\d{6}$/;
const GROUPS = /.{5}(?=.{5})|.+/g;

export type TypedCode = { kind: 'totp'; digits: string } | { kind: 'recovery'; hash: string };

export function readTypedCode(text: string): TypedCode | undefined {
  const code = typedText(text);
  if (code === undefined) return undefined;
  if (TOTP_CODE.test(code)) return { kind: 'totp', digits: code };
  return RECOVERY_CODE.test(code) ? { kind: 'recovery', hash: hashOf(code) } : undefined;
}

export function newRecoveryCodes(): Record<'texts' | 'hashes', string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(RECOVERY_CODE_BYTES), CROCKFORD_ALPHABET),
  );
  return { texts: codes.map((code) => code.match(GROUPS)!.join('-')), hashes: codes.map(hashOf) };
}

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

/** Accepts small letters, and padding or none. */
export function bytesOfBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let [rest, bits] = [0, 0];
  for (const letter of text.toUpperCase().replace(/=+$/, '')) {
    const value = RFC_4648_ALPHABET.indexOf(letter);
    if (value < 0) return undefined;
    rest = ((rest << BITS) | value) & 0xfff;
    bits += BITS;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((rest >>> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

export function otpauthUri({ issuer, email, secret }: Record<'issuer' | 'email' | 'secret', string>): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const issued = `issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?secret=${secret}&${issued}&algorithm=SHA1&digits=6&period=30`;
}

/** RFC 4226 section 4: as long as the hash */
const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
/** steps before and after, for clocks that differ and for the time that typing takes (RFC 6238 section 5.2) */
const TOLERANCE = 1;

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

export function stepAt(time: number): number {
  return Math.floor(time / STEP_MS);
}

/** RFC 4226 section 5.3 */
export function codeOfStep(secret: Buffer | KeyObject, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.at(-1)! & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

export function findStep(secret: Buffer, code: string, time: number): number | undefined {
  const now = stepAt(time);
  const key = createSecretKey(secret);
  const steps = Array.from({ length: 2 * TOLERANCE + 1 }, (_, index) => now + TOLERANCE - index);
  return steps.find((step) => isSameCode(codeOfStep(key, step), code));
}

import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
/** steps before and after, for clocks that differ and for the time that typing takes (RFC 6238 section 5.2) */
const TOLERANCE = 1;

/** RFC 4226 section 4: as long as the hash */
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

/** Returns the latest step near the time whose code this is. */
export function findStep(secret: Buffer, code: string, time: number): number | undefined {
  const now = stepAt(time);
  const key = createSecretKey(secret);
  const steps = Array.from({ length: 2 * TOLERANCE + 1 }, (_, place) => now + TOLERANCE - place);
  return steps.find((step) => isSame(codeOfStep(key, step), code));
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

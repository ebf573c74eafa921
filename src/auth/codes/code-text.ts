import { createHash, createHmac, randomBytes } from 'node:crypto';

const CODE_BYTES = 32;
const CODE = /^[\w-]{43}$/;

/** 256 random bits, base64url: 43 characters (RFC 6749 section 10.10). */
export function newCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url');
}

/** Whether the text can be a code at all; what cannot is not looked up. */
export function isCode(text: string): boolean {
  return CODE.test(text);
}

/**
 * What is stored of a code: HMAC-SHA-256 of its challenge, keyed by the code, base64url. Who has no code, or
 * not the verifier of its challenge, names no row. A code has full entropy, so one pass does (ASVS 6.5.2).
 *
 * @param challenge of RFC 7636 section 4.2; undefined for a code without one
 */
export function hashCode(code: string, challenge = ''): string {
  return createHmac('sha256', code).update(challenge).digest('base64url');
}

/** RFC 7636 section 4.6, method S256 */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

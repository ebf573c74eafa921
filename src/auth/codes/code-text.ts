import { createHash, createHmac, randomBytes } from 'node:crypto';

const CODE_BYTES = 32;
const CODE = /^[\w-]{43}$/;

/** A code has 256 random bits (RFC 6749 section 10.10). */
export function newCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url');
}

export function isCode(text: string): boolean {
  return CODE.test(text);
}

/** One pass of HMAC-SHA-256 is enough, since a code has full entropy (ASVS 6.5.2). */
export function hashCode(code: string, challenge = ''): string {
  return createHmac('sha256', code).update(challenge).digest('base64url');
}

/** RFC 7636 section 4.6, method S256 */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

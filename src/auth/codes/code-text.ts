import { createHash, randomBytes } from 'node:crypto';

const CODE_BYTES = 32;

/** 256 random bits, base64url: 43 characters (RFC 6749 section 10.10). */
export function newCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url');
}

/** What is stored of a code. A code has full entropy, so a plain hash does (ASVS 6.5.2). */
export function hashCode(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}

/** RFC 7636 section 4.6, method S256 */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

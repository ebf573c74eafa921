import { createHash, createHmac, randomBytes } from 'node:crypto';

/** A code has 256 random bits (RFC 6749 section 10.10). */
const CODE_BYTES = 32;
const CODE = /^[\w-]{43}$/;

export function newCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url');
}

export function isCode(text: string): boolean {
  return CODE.test(text);
}

/** RFC 7636 section 4.6, method S256 */
export function challengeOf(codeVerifier: string): string {
  return createHash('sha256').update(codeVerifier).digest('base64url');
}

// Codes have full entropy, so one pass is enough (ASVS 6.5.2). A wrong challenge or audience finds no code.
export function hashCode(code: string, challenge = '', audience?: string): string {
  const mac = createHmac('sha256', code).update(challenge);
  if (audience !== undefined) mac.update('\0').update(audience);
  return mac.digest('base64url');
}

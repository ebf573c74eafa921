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

/** A code can be bound to more than the session that issued it. */
export interface CodeBinding {
  /** challenge of a verifier (RFC 7636) */
  challenge?: string | undefined;
  /** name of the one service that may exchange the code */
  audience?: string | undefined;
}

// One pass of HMAC-SHA-256 is enough, since a code has full entropy (ASVS 6.5.2). A caller who exchanges a code without what it
// is bound to, also an instance that does not know audiences, computes another hash, and finds no code.
export function hashCode(code: string, { challenge = '', audience }: CodeBinding = {}): string {
  const mac = createHmac('sha256', code).update(challenge);
  // Neither part can contain the separator.
  if (audience !== undefined) mac.update('\0').update(audience);
  return mac.digest('base64url');
}

/** RFC 7636 section 4.6, method S256 */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

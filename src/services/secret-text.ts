import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const PREFIX = 'acs_';
const SECRET = /^acs_[\w-]{43}$/;

/** The prefix lets scanners of source code find a secret that leaked. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
}

export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** One pass is enough for a secret of full entropy, and its hash tells nothing by the time that a look-up takes. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

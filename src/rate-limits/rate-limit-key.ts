import { hash } from 'node:crypto';

/** Bytes in a key. 128 bits keep chance collisions out of reach at any number of keys. */
export const KEY_BYTES = 16;
/** The same in characters of base64url (RFC 4648 section 5), without padding. */
export const KEY_LENGTH = 22;

/**
 * The key under which a store counts: SHA-256 of the limit's name and of all that it counts by, cut to 128 bits,
 * in base64url. A store, which may be a shared one, thus holds no raw e-mail, and a long one costs no more than
 * a short one.
 */
export function rateLimitKey(name: string, ...subject: string[]): string {
  return hash('sha256', [name, ...subject].join('\0'), 'buffer').toString('base64url', 0, KEY_BYTES);
}

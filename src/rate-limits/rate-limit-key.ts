import { hash } from 'node:crypto';

/** 128 bits make chance collisions negligible for any number of keys. */
export const KEY_BYTES = 16;
/** length in base64url without padding (RFC 4648 section 5) */
export const KEY_LENGTH = 22;

/** Stands for a normalized email, over all addresses and limits. */
export const emailKey = (email: string): string => rateLimitKey('email', email);

/** Hashes, so that a store, perhaps a shared one, holds no email, and keys have one length. */
export function rateLimitKey(name: string, ...subject: string[]): string {
  return hash('sha256', [name, ...subject].join('\0'), 'buffer').toString('base64url', 0, KEY_BYTES);
}

import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { SigningKey } from './signing-keys.js';

export type MacPurpose = 'refresh tokens' | 'mail codes' | 'login challenges';

/** A room registers the rows of each in SealedParts. */
export const SEALING_PURPOSES = ['second factor secrets'] as const;

export type SealingPurpose = (typeof SEALING_PURPOSES)[number];

const KEY_BYTES = 32;

// Derives keys from the signing keys (HKDF, RFC 5869), which are in no database: who steals that has none of them. Each
// purpose has keys of its own, so that what was made for one proves nothing for another.
export class DerivedKeys {
  private readonly derived = new WeakMap<SigningKey, KeyObject>();

  constructor(private readonly purpose: MacPurpose | SealingPurpose) {}

  /** Makes a KeyObject: with a key in a Buffer an HMAC took four times as long. */
  of(signingKey: SigningKey): KeyObject {
    const known = this.derived.get(signingKey);
    if (known) return known;
    const { d = '' } = signingKey.privateKey.export({ format: 'jwk' });
    const derived = hkdfSync('sha256', Buffer.from(d, 'base64url'), '', this.purpose, KEY_BYTES);
    const key = createSecretKey(new Uint8Array(derived));
    this.derived.set(signingKey, key);
    return key;
  }
}

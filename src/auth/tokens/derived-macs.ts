import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { KeyRing } from './key-ring.js';
import type { SigningKey } from './signing-keys.js';

/** Each purpose has keys of its own, so that what was made for one proves nothing for another. */
export type MacPurpose = 'refresh tokens' | 'mail codes';

const KEY_BYTES = 32;

// The keys are derived from the signing keys (HKDF, RFC 5869), which are in no database: who steals that can make no
// MAC. The key that signs makes them, and every key of the ring is accepted, so that they outlive a rotation.
export class DerivedMacs {
  private readonly derived = new WeakMap<SigningKey, KeyObject>();

  constructor(
    private readonly keys: KeyRing,
    private readonly purpose: MacPurpose,
  ) {}

  make(message: string): Buffer {
    return this.macOf(this.keys.signing, message);
  }

  accepted(message: string): Buffer[] {
    return this.keys.all.map((key) => this.macOf(key, message));
  }

  private macOf(key: SigningKey, message: string): Buffer {
    return createHmac('sha256', this.keyFrom(key)).update(message).digest();
  }

  /** Makes a KeyObject: with a key in a Buffer an HMAC took four times as long. */
  private keyFrom(signingKey: SigningKey): KeyObject {
    const known = this.derived.get(signingKey);
    if (known) return known;
    const { d = '' } = signingKey.privateKey.export({ format: 'jwk' });
    const derived = hkdfSync('sha256', Buffer.from(d, 'base64url'), '', this.purpose, KEY_BYTES);
    const key = createSecretKey(new Uint8Array(derived));
    this.derived.set(signingKey, key);
    return key;
  }
}

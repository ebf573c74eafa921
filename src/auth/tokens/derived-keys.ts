import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { KeyRing, SigningKey } from './signing-keys.js';

type MacPurpose = 'refresh tokens' | 'email codes' | 'login challenges';

export type EncryptionPurpose = 'second factor secrets';

const KEY_BYTES = 32;

// Derives keys from the signing keys (HKDF, RFC 5869), which are in no database: who steals that has none of them. Each
// purpose has keys of its own, so that what was made for one proves nothing for another.
export class DerivedKeys {
  private readonly derived = new WeakMap<SigningKey, KeyObject>();

  constructor(private readonly purpose: MacPurpose | EncryptionPurpose) {}

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

/** The key that signs makes them, and every key of the ring is accepted, so that they outlive a rotation. */
export class DerivedMacs {
  private readonly derived: DerivedKeys;

  constructor(
    private readonly keys: KeyRing,
    purpose: MacPurpose,
  ) {
    this.derived = new DerivedKeys(purpose);
  }

  make(message: string): Buffer {
    return this.macOf(this.keys.signing, message);
  }

  accepted(message: string): Buffer[] {
    return this.keys.all.map((key) => this.macOf(key, message));
  }

  private macOf(key: SigningKey, message: string): Buffer {
    return createHmac('sha256', this.derived.of(key)).update(message).digest();
  }
}

import { createHmac } from 'node:crypto';
import { DerivedKeys, type MacPurpose } from './derived-keys.js';
import type { KeyRing } from './key-ring.js';
import type { SigningKey } from './signing-keys.js';

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

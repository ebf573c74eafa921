import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DerivedKeys, type SealingPurpose } from './derived-keys.js';
import type { KeyRing } from './key-ring.js';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** @returns the thumbprint of the key that sealed it */
export function sealedBy(sealed: string): string {
  return sealed.split('.', 1)[0]!;
}

// Secrets that have to be read again, unlike passwords: the database has them encrypted with a key that it does not hold.
// The key that signs seals them, every key of the ring opens them, and `accounts keys prune` re-encrypts what it would
// leave without a key. The key of the row is authenticated too, so that no secret works in another user's row.
export class SealedSecrets {
  private readonly derived: DerivedKeys;

  constructor(
    private readonly keys: KeyRing,
    purpose: SealingPurpose,
  ) {
    this.derived = new DerivedKeys(purpose);
  }

  /** @returns `thumbprint.nonce.ciphertext`, the tag at the end of the ciphertext */
  seal(secret: Buffer, rowKey: string): string {
    const key = this.keys.signing;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.derived.of(key), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(rowKey));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return [key.thumbprint, nonce.toString('base64url'), ciphertext.toString('base64url')].join('.');
  }

  hasKeyOf(sealed: string): boolean {
    return this.keys.all.some(({ thumbprint }) => thumbprint === sealedBy(sealed));
  }

  /** @returns undefined where no key of the ring has sealed this secret for this row */
  open(sealed: string, rowKey: string): Buffer | undefined {
    const [sealer, ...parts] = sealed.split('.');
    const key = this.keys.all.find(({ thumbprint }) => thumbprint === sealer);
    const [nonce, box] = parts.map((part) => Buffer.from(part, 'base64url'));
    if (!key || nonce?.length !== NONCE_BYTES || !box || box.length < TAG_BYTES) return undefined;
    const decipher = createDecipheriv(ALGORITHM, this.derived.of(key), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(rowKey));
    decipher.setAuthTag(box.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(box.subarray(0, -TAG_BYTES)), decipher.final()]);
    } catch {
      return undefined;
    }
  }
}

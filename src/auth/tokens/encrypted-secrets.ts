import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DerivedKeys, type EncryptionPurpose } from './derived-keys.js';
import type { KeyRing } from './signing-keys.js';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Returns the thumbprint of the key that encrypted the secret. */
export function keyOf(encrypted: string): string {
  return encrypted.split('.', 1)[0]!;
}

// Encrypts secrets that have to be read again, unlike passwords, with keys that the database does not hold. The key that
// signs encrypts; every key of the ring decrypts; `accounts keys prune` re-encrypts before it removes a key. The key of
// the row is authenticated too, so that no secret works in the row of another user.
export class EncryptedSecrets {
  private readonly derived: DerivedKeys;

  constructor(
    private readonly keys: KeyRing,
    purpose: EncryptionPurpose,
  ) {
    this.derived = new DerivedKeys(purpose);
  }

  /** Returns `thumbprint.nonce.ciphertext`, with the tag at the end of the ciphertext. */
  encrypt(secret: Buffer, rowKey: string): string {
    const key = this.keys.signing;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.derived.of(key), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(rowKey));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return [key.thumbprint, nonce.toString('base64url'), ciphertext.toString('base64url')].join('.');
  }

  hasKeyOf(encrypted: string): boolean {
    return this.keys.all.some(({ thumbprint }) => thumbprint === keyOf(encrypted));
  }

  /** Returns undefined if no key of the ring encrypted this secret for this row. */
  decrypt(encrypted: string, rowKey: string): Buffer | undefined {
    const [print, ...parts] = encrypted.split('.');
    const key = this.keys.all.find(({ thumbprint }) => thumbprint === print);
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

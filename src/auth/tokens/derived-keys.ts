import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import type { KeyRing, SigningKey } from './signing-keys.js';

type MacPurpose = 'refresh tokens' | 'email codes' | 'login challenges';

type EncryptionPurpose = 'second factor secrets';

const KEY_BYTES = 32;

// Derives keys from the signing keys (HKDF, RFC 5869), which are not in the database. Each purpose has its own keys.
class DerivedKeys {
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

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function keyOf(encrypted: string): string {
  return encrypted.split('.', 1)[0]!;
}

// Encrypts with the key that signs and decrypts with every key of the ring. It authenticates the row's key too, so
// that no secret works in another user's row.
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

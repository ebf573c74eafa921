import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { KeyFileWatch } from './key-file-watch.js';
import type { KeyRing, SigningKey } from './signing-keys.js';

type MacPurpose = 'refresh tokens' | 'email codes' | 'login challenges' | 'login decoys';

export type SecretPurpose = 'second factor secrets' | 'provider secrets' | 'provider logins';

type KeyPurpose = MacPurpose | SecretPurpose;

const KEY_BYTES = 32;
const derivedKeys = new WeakMap<SigningKey, Partial<Record<KeyPurpose, KeyObject>>>();

/**
 * Derives by HKDF (RFC 5869) from a signing key, which is not in the database. Keeps the result for each key as a `KeyObject`.
 *
 * @floor login 0.8: 1.2 times the second steps; with a `Buffer` an HMAC takes four times as long
 */
function derivedKey(signingKey: SigningKey, purpose: KeyPurpose): KeyObject {
  const derived = derivedKeys.get(signingKey) ?? {};
  derivedKeys.set(signingKey, derived);
  if (derived[purpose]) return derived[purpose];
  const { d = '' } = signingKey.privateKey.export({ format: 'jwk' });
  const bytes = hkdfSync('sha256', Buffer.from(d, 'base64url'), '', purpose, KEY_BYTES);
  return (derived[purpose] = createSecretKey(new Uint8Array(bytes)));
}

export class DerivedMacs {
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
    return createHmac('sha256', derivedKey(key, this.purpose)).update(message).digest();
  }
}

const MAC = /^[\w-]{43}$/;

/** `message.MAC`, which clients send back: the database alone cannot make one, and the check needs no query. */
export class SignedTexts {
  private readonly macs: DerivedMacs;

  constructor(
    keys: KeyRing,
    private readonly keyFile: KeyFileWatch,
    purpose: MacPurpose,
    private readonly format: RegExp,
  ) {
    this.macs = new DerivedMacs(keys, purpose);
  }

  write(...parts: (string | number)[]): string {
    const message = parts.join('.');
    return `${message}.${this.macs.make(message).toString('base64url')}`;
  }

  async read(text: string): Promise<string[] | undefined> {
    const end = text.lastIndexOf('.');
    const message = text.slice(0, end);
    const mac = text.slice(end + 1);
    if (!this.format.test(message) || !MAC.test(mac)) return undefined;
    if (!this.isMacOf(message, mac)) {
      await this.keyFile.reloadForUnknownKey();
      if (!this.isMacOf(message, mac)) return undefined;
    }
    return message.split('.');
  }

  private isMacOf(message: string, mac: string): boolean {
    const shown = Buffer.from(mac, 'base64url');
    return this.macs.accepted(message).some((accepted) => timingSafeEqual(accepted, shown));
  }
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function keyOf(encrypted: string): string {
  return encrypted.split('.', 1)[0]!;
}

// Authenticates the row's key as well, so that no secret works in another row.
export class EncryptedSecrets {
  constructor(
    private readonly keys: KeyRing,
    private readonly purpose: SecretPurpose,
  ) {}

  /** Returns `thumbprint.nonce.ciphertext`, with the tag at the end of the ciphertext. */
  encrypt(secret: Buffer, rowKey: string): string {
    const key = this.keys.signing;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, derivedKey(key, this.purpose), nonce, {
      authTagLength: TAG_BYTES,
    });
    cipher.setAAD(Buffer.from(rowKey));
    const ciphertext = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return [key.thumbprint, nonce.toString('base64url'), ciphertext.toString('base64url')].join('.');
  }

  hasKeyOf(encrypted: string): boolean {
    return this.keys.all.some(({ thumbprint }) => thumbprint === keyOf(encrypted));
  }

  decrypt(encrypted: string, rowKey: string): Buffer | undefined {
    const [print, ...parts] = encrypted.split('.');
    const key = this.keys.all.find(({ thumbprint }) => thumbprint === print);
    const [nonce, box] = parts.map((part) => Buffer.from(part, 'base64url'));
    if (!key || nonce?.length !== NONCE_BYTES || !box || box.length < TAG_BYTES) return undefined;
    const decipher = createDecipheriv(ALGORITHM, derivedKey(key, this.purpose), nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(rowKey));
    decipher.setAuthTag(box.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(box.subarray(0, -TAG_BYTES)), decipher.final()]);
    } catch {
      return undefined;
    }
  }
}

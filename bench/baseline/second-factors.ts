import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Says that the password was right. Times are epoch milliseconds. */
export interface Challenge {
  userId: string;
  enabledAt: number;
  expiresAt: number;
}

const STEP_MS = 30_000;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORM = /^(([\da-f-]{36})\.0\.(\d{1,16})\.(\d{1,16}))\.([\w-]{43})$/;

/** Challenges and sealed secrets in the service's own forms, so that one load fits both. */
export class SecondFactors {
  private readonly id: string;
  private readonly macKey: KeyObject;
  private readonly sealingKey: KeyObject;

  constructor(keysFile: string) {
    const { keys } = JSON.parse(readFileSync(keysFile, 'utf8')) as { keys: [JsonWebKey] };
    const [{ crv, d = '', kty, x, y }] = keys;
    const derive = (purpose: string): KeyObject =>
      createSecretKey(new Uint8Array(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', purpose, 32)));
    // RFC 7638
    this.id = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
    this.macKey = derive('login challenges');
    this.sealingKey = derive('second factor secrets');
  }

  challenge({ userId, enabledAt, expiresAt }: Challenge): string {
    const message = `${userId}.0.${enabledAt}.${expiresAt}`;
    return `${message}.${this.macOf(message).toString('base64url')}`;
  }

  readChallenge(text: string): Challenge | undefined {
    const [, message = '', userId = '', enabledAt, expiresAt, mac = ''] = FORM.exec(text) ?? [];
    const given = Buffer.from(mac, 'base64url');
    const expected = this.macOf(message);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    if (Number(expiresAt) <= Date.now()) return undefined;
    return { userId, enabledAt: Number(enabledAt), expiresAt: Number(expiresAt) };
  }

  seal(secret: Buffer, userId: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.sealingKey, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(userId));
    const box = Buffer.concat([cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return [this.id, nonce.toString('base64url'), box.toString('base64url')].join('.');
  }

  open(sealed: string, userId: string): KeyObject {
    const [, nonce = '', box = ''] = sealed.split('.');
    const bytes = Buffer.from(box, 'base64url');
    const decipher = createDecipheriv(CIPHER, this.sealingKey, Buffer.from(nonce, 'base64url'), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(userId));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return createSecretKey(Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]));
  }

  private macOf(message: string): Buffer {
    return createHmac('sha256', this.macKey).update(message).digest();
  }
}

export function stepAt(time: number): number {
  return Math.floor(time / STEP_MS);
}

/** RFC 4226 section 5.3 */
export function codeOfStep(secret: KeyObject, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE(mac.at(-1)! & 0xf) & 0x7fff_ffff;
  return String(number % 1_000_000).padStart(6, '0');
}

export function findStep(secret: KeyObject, code: string, now: number): number | undefined {
  const step = stepAt(now);
  return [step + 1, step, step - 1].find((near) => codeOfStep(secret, near) === code);
}

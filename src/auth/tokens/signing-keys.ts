import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import type { KeySet, PublicKey } from './tokens.responses.js';

export type Jwk = JsonWebKey & {
  kid?: string;
  /** epoch seconds from which the key signs; it verifies before, too (OpenID Federation 1.0 section 8.7.2) */
  nbf?: number;
};

export interface SigningKey {
  kid: string;
  /** RFC 7638; does not depend on the `kid` in the file */
  thumbprint: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  signsFrom: number;
}

export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

export class SigningKeysError extends Error {
  constructor(problem: string) {
    super(`JWT_KEYS_FILE: ${problem}`);
  }
}

/** @throws SigningKeysError unless the text is a JWK Set (RFC 7517 section 5) of private P-256 keys */
export function readKeySet(text: string): SigningKeys {
  const [first, ...others] = parseKeySet(text).map(readKey);
  if (!first) throw new SigningKeysError('the key set is empty');
  const kids = new Set([first, ...others].map(({ kid }) => kid));
  if (kids.size <= others.length) throw new SigningKeysError('two keys have the same kid');
  return [first, ...others];
}

/** If the clock is slow, no key may be due yet; then the oldest key signs. */
function signingKeyAt(keys: SigningKeys, now: number): SigningKey {
  return keys.find(({ signsFrom }) => signsFrom <= now) ?? keys.at(-1)!;
}

export function parseKeySet(text: string): Jwk[] {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    throw new SigningKeysError('the file is not JSON');
  }
  const keys = typeof set === 'object' && set !== null && 'keys' in set ? set.keys : undefined;
  if (!Array.isArray(keys)) throw new SigningKeysError('the file is not a JWK Set: it has no list of keys');
  return keys as Jwk[];
}

function readKey(jwk: Jwk, index: number): SigningKey {
  const position = `key ${index + 1}`;
  if (jwk?.kty !== 'EC' || jwk.crv !== 'P-256' || typeof jwk.d !== 'string') {
    throw new SigningKeysError(`${position} is not a private P-256 key`);
  }
  if (jwk.kid !== undefined && (typeof jwk.kid !== 'string' || jwk.kid === '')) {
    throw new SigningKeysError(`${position} has a kid that is not text`);
  }
  if (jwk.nbf !== undefined && !Number.isSafeInteger(jwk.nbf)) {
    throw new SigningKeysError(`${position} has an nbf that is not a time`);
  }
  try {
    const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
    const publicKey = createPublicKey(privateKey);
    assertPair(privateKey, publicKey);
    const print = thumbprint(publicKey);
    const signsFrom = (jwk.nbf ?? 0) * 1000;
    return { kid: jwk.kid ?? print, thumbprint: print, privateKey, publicKey, signsFrom };
  } catch {
    throw new SigningKeysError(`${position} cannot be read`);
  }
}

/** Node 24 does not check that `x` and `y` of a JWK belong to `d`. */
function assertPair(privateKey: KeyObject, publicKey: KeyObject): void {
  const probe = Buffer.from('probe');
  if (!verify('sha256', probe, publicKey, sign('sha256', probe, privateKey))) throw new Error('not a pair');
}

function publicJwk(key: SigningKey): PublicKey {
  const { x = '', y = '' } = key.publicKey.export({ format: 'jwk' });
  return { kty: 'EC', crv: 'P-256', x, y, kid: key.kid, alg: 'ES256', use: 'sig' };
}

/** RFC 7638 section 3.2: the required members in lexicographic order. */
function thumbprint(publicKey: KeyObject): string {
  const { crv, kty, x, y } = publicKey.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

export function newJwk(): Jwk {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), kid: thumbprint(publicKey), alg: 'ES256', use: 'sig' };
}

export function keySetText(keys: readonly Jwk[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}

export class KeyRing {
  private keys: SigningKeys;
  private publicKeys: KeySet;
  private verifying: Map<string, string>;

  constructor(keys: SigningKeys) {
    this.replace(keys);
  }

  get signing(): SigningKey {
    return signingKeyAt(this.keys, Date.now());
  }

  get all(): SigningKeys {
    return this.keys;
  }

  get published(): KeySet {
    return this.publicKeys;
  }

  findVerifying(kid: string): string | undefined {
    return this.verifying.get(kid);
  }

  replace(keys: SigningKeys): void {
    this.keys = keys;
    this.publicKeys = { keys: keys.map(publicJwk) };
    this.verifying = new Map(
      keys.map(({ kid, publicKey }) => [kid, publicKey.export({ type: 'spki', format: 'pem' }).toString()]),
    );
  }
}

/** An instance may sign with a key until it reads the next one: clocks differ, and instances poll the file. */
const HANDOVER_MS = 60_000;

export interface ScheduledKey {
  kid: string;
  state: 'signing' | 'next' | 'verifying';
  signsFrom: number;
  /** epoch milliseconds; undefined for keys that sign now or later */
  signedUntil: number | undefined;
}

/** @param changedAt when the file was last changed; a key without `nbf` could sign by then */
export function scheduleOf(keys: SigningKeys, now: number, changedAt: number): ScheduledKey[] {
  const signingIndex = keys.indexOf(signingKeyAt(keys, now));
  return keys.map(({ kid, signsFrom }, index) => {
    if (index === signingIndex) return { kid, state: 'signing', signsFrom, signedUntil: undefined };
    if (index < signingIndex) return { kid, state: 'next', signsFrom, signedUntil: undefined };
    const followers = keys.slice(0, index).map((key) => key.signsFrom || changedAt);
    return { kid, state: 'verifying', signsFrom, signedUntil: Math.min(...followers) + HANDOVER_MS };
  });
}

import { createCipheriv, pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Refuses padding and stray bits at the end (RFC 4648 section 3.5), on which decoders disagree. */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048])?$/;

/** Like `BASE64`, in bcrypt's own alphabet. */
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;
const MIN_BCRYPT_COST = 4;
/** A verification takes 2^cost rounds. A higher cost takes over a second and could miss the deadline of a login. */
export const MAX_BCRYPT_COST = 14;
const MAX_BCRYPT_BYTES = 72;

export function readBcryptCost(hash: string): number | undefined {
  const [, digits] = BCRYPT.exec(hash) ?? [];
  const cost = Number(digits);
  return cost >= MIN_BCRYPT_COST && cost <= MAX_BCRYPT_COST ? cost : undefined;
}

/** Verifies only the first 72 bytes, because other systems hashed no more of a longer password. */
export async function verifyBcrypt(hash: string, password: string): Promise<boolean> {
  if (readBcryptCost(hash) === undefined) return false;
  const { compare } = await loadBcrypt();
  const bytes = Buffer.from(password, 'utf8');
  // 2a, 2b and 2y differ in bugs with passwords beyond 72 bytes only; the package does not know 2y.
  const matches = await compare(bytes.subarray(0, MAX_BCRYPT_BYTES), `$2b${hash.slice('$2b'.length)}`);
  // Many implementations end a password at NUL, so a longer password could match the hash of a shorter one.
  return matches && !bytes.includes(0);
}

export function loadBcrypt(): Promise<typeof import('bcrypt')> {
  return import('bcrypt');
}

/** About a second at most, like the bounds of bcrypt and argon2id. Keycloak's default is 1,200,000 rounds. */
export const MAX_PBKDF2_ROUNDS = 2_000_000;
export const MAX_SCRYPT_MIB = 256;

const SALT_AND_HASH = String.raw`\$([A-Za-z0-9+/]{2,86})\$([A-Za-z0-9+/]{22,86})$`;
const PBKDF2 = new RegExp(String.raw`^\$pbkdf2-sha(256|512)\$i=([1-9]\d{0,8})(?:,l=\d{2})?${SALT_AND_HASH}`);
/** RFC 7914; `ln` is the binary logarithm of N. Firebase's own has the salt separator at the end of the salt. */
const SCRYPT = new RegExp(
  String.raw`^\$(firebase-)?scrypt\$ln=(\d{1,2}),r=([1-9]\d{0,5}),p=([1-9]\d{0,5})${SALT_AND_HASH}`,
);
const FIREBASE_KEY_BYTES = 32;

const pbkdf2Bytes = promisify(pbkdf2);
const scryptBytes = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Do not verify one that is too costly. */
type DerivedHash = { isTooCostly: boolean; verify: (password: string) => Promise<boolean> };

export function readDerivedHash(text: string): DerivedHash | undefined {
  return readPbkdf2(text) ?? readScrypt(text);
}

function readPbkdf2(text: string): DerivedHash | undefined {
  const [, bits, rounds, ...ending] = PBKDF2.exec(text) ?? [];
  const [salt, expected] = bytesOf(ending);
  if (!salt || !expected) return undefined;
  const blocks = Math.ceil((8 * expected.length) / Number(bits));
  const derive = (password: string): Promise<Buffer> =>
    pbkdf2Bytes(password, salt, Number(rounds), expected.length, `sha${bits}`);
  return {
    isTooCostly: Number(rounds) * blocks > MAX_PBKDF2_ROUNDS,
    verify: async (password) => timingSafeEqual(await derive(password), expected),
  };
}

function readScrypt(text: string): DerivedHash | undefined {
  const [, firebase, ln, blockSize, parallelism, ...ending] = SCRYPT.exec(text) ?? [];
  const [salt, expected] = bytesOf(ending);
  const [N, r, p] = [2 ** Number(ln), Number(blockSize), Number(parallelism)];
  // RFC 7914 section 2 wants N below 2^(128 r / 8).
  if (!salt || !expected || N < 2 || N >= 2 ** (16 * r)) return undefined;
  const work = 128 * N * r * p;
  const options = { N, r, p, maxmem: 2 * work + 2 ** 20 };
  const derive = (password: string, bytes: number) => scryptBytes(password, salt, bytes, options);
  return {
    isTooCostly: work > MAX_SCRYPT_MIB * 2 ** 20,
    verify: async (password) => {
      const isFirebase = firebase !== undefined;
      const key = await derive(password, isFirebase ? FIREBASE_KEY_BYTES : expected.length);
      return timingSafeEqual(isFirebase ? keystreamOf(key, expected.length) : key, expected);
    },
  };
}

function bytesOf(ending: readonly (string | undefined)[]): (Buffer | undefined)[] {
  return ending.map((part = '') => (BASE64.test(part) ? Buffer.from(part, 'base64') : undefined));
}

/** Firebase stores its signer key, encrypted by AES-256-CTR. Without the signer key, the keystream remains. */
function keystreamOf(key: Buffer, bytes: number): Buffer {
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
}

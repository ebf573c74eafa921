import { createCipheriv, pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Refuses padding and stray bits at the end (RFC 4648 section 3.5), on which decoders disagree. */
export const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048])?$/;

interface Maxima {
  /** A verification takes 2^cost rounds. */
  bcryptCost: number;
  /** of all blocks, by the bits of SHA */
  pbkdf2Rounds: { 256: number; 512: number };
  scryptMib: number;
  scryptLanes: number;
}

/** About a second of a core. What was imported under older maxima must still let its users log in. */
export const VERIFIED: Maxima = {
  bcryptCost: 14,
  pbkdf2Rounds: { 256: 2_000_000, 512: 2_000_000 },
  scryptMib: 256,
  scryptLanes: Number.POSITIVE_INFINITY,
};

/** About half a second: a flood of the costliest hash must leave others time to log in. Keycloak has 600,000 x 2 rounds. */
export const IMPORTED: Maxima = {
  bcryptCost: 13,
  pbkdf2Rounds: { 256: 1_300_000, 512: 800_000 },
  scryptMib: 128,
  scryptLanes: 16,
};

/** Do not verify one that is not within `VERIFIED`. */
interface ForeignHash {
  /** of the same family and cost, whatever the salt and the digest */
  decoy: string;
  isWithin: (maxima: Maxima) => boolean;
  verify: (password: string) => Promise<boolean>;
}

export function readForeignHash(text: string): ForeignHash | undefined {
  return readBcrypt(text) ?? readPbkdf2(text) ?? readScrypt(text);
}

/** Like `BASE64`, in bcrypt's own alphabet. */
const BCRYPT =
  /^\$2[aby]\$(0[4-9]|[12]\d|3[01])(\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26])$/;
const MAX_BCRYPT_BYTES = 72;

function readBcrypt(text: string): ForeignHash | undefined {
  const [, cost, ending] = BCRYPT.exec(text) ?? [];
  if (!cost || !ending) return undefined;
  // 2a, 2b and 2y differ in bugs with passwords beyond 72 bytes only; the package does not know 2y.
  const begin = `$2b$${cost}`;
  return {
    decoy: `${begin}$${'.'.repeat(ending.length - 1)}`,
    isWithin: ({ bcryptCost }) => Number(cost) <= bcryptCost,
    verify: async (password) => {
      const { compare } = await loadBcrypt();
      const bytes = Buffer.from(password, 'utf8');
      // Other systems hashed no more of a longer password.
      const matches = await compare(bytes.subarray(0, MAX_BCRYPT_BYTES), begin + ending);
      // Many implementations end a password at NUL, so a longer password could match the hash of a shorter one.
      return matches && !bytes.includes(0);
    },
  };
}

export function loadBcrypt(): Promise<typeof import('bcrypt')> {
  return import('bcrypt');
}

const SALT_AND_HASH = String.raw`\$([A-Za-z0-9+/]{2,86})\$([A-Za-z0-9+/]{22,86})$`;
const PBKDF2 = new RegExp(String.raw`^\$pbkdf2-sha(256|512)\$i=([1-9]\d{0,8})(?:,l=\d{2})?${SALT_AND_HASH}`);
/** RFC 7914; `ln` is the binary logarithm of N. Firebase's own has the salt separator at the end of the salt. */
const SCRYPT = new RegExp(
  String.raw`^\$(firebase-)?scrypt\$ln=(\d{1,2}),r=([1-9]\d{0,5}),p=([1-9]\d{0,5})${SALT_AND_HASH}`,
);
const FIREBASE_KEY_BYTES = 32;

const pbkdf2Bytes = promisify(pbkdf2);
const scryptBytes = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** All of one length, which costs the same: with each length as a kind of its own, a rare kind would have no decoy. */
export const decoyEnding = (hashBytes = 32): string => `$${zeros(16)}$${zeros(hashBytes)}`;
const zeros = (bytes: number): string => 'A'.repeat(Math.ceil((4 * bytes) / 3));

function readPbkdf2(text: string): ForeignHash | undefined {
  const [, sha, rounds, ...ending] = PBKDF2.exec(text) ?? [];
  const [salt, expected] = bytesOf(ending);
  if (!salt || !expected) return undefined;
  const bits = sha === '256' ? 256 : 512;
  const blocks = Math.ceil((8 * expected.length) / bits);
  const derive = (password: string): Promise<Buffer> =>
    pbkdf2Bytes(password, salt, Number(rounds), expected.length, `sha${bits}`);
  return {
    decoy: `$pbkdf2-sha${bits}$i=${rounds}${decoyEnding(32 * blocks)}`,
    isWithin: ({ pbkdf2Rounds }) => Number(rounds) * blocks <= pbkdf2Rounds[bits],
    verify: async (password) => timingSafeEqual(await derive(password), expected),
  };
}

function readScrypt(text: string): ForeignHash | undefined {
  const [, firebase = '', ln, blockSize, parallelism, ...ending] = SCRYPT.exec(text) ?? [];
  const [salt, expected] = bytesOf(ending);
  const [N, r, p] = [2 ** Number(ln), Number(blockSize), Number(parallelism)];
  // RFC 7914 section 2 wants N below 2^(128 r / 8).
  if (!salt || !expected || N < 2 || N >= 2 ** (16 * r)) return undefined;
  // What OpenSSL allocates, and compares to `maxmem`. With small N it is more than the work.
  const maxmem = 128 * r * (N + p + 2);
  const derive = (password: string, bytes: number): Promise<Buffer> =>
    scryptBytes(password, salt, bytes, { N, r, p, maxmem });
  return {
    decoy: `$${firebase}scrypt$ln=${Number(ln)},r=${r},p=${p}${decoyEnding()}`,
    isWithin: ({ scryptMib, scryptLanes }) =>
      Math.max(128 * r * N * p, maxmem / 2) <= scryptMib * 2 ** 20 && p <= scryptLanes,
    verify: async (password) => {
      const key = await derive(password, firebase ? FIREBASE_KEY_BYTES : expected.length);
      return timingSafeEqual(firebase ? keystreamOf(key, expected.length) : key, expected);
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

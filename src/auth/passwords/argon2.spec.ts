import { describe, expect, it } from 'vitest';
import {
  type Argon2Engine,
  loadArgon2Engine,
  loadArgon2PackageEngine,
  loadNodeRsEngine,
  readArgon2Cost,
} from './argon2.js';
import { BcryptVerifier, foreignHashFault, readBcryptCost } from './foreign-hashes.js';

const COST = { memoryKib: 64, timeCost: 1, parallelism: 1 };
const PASSWORD = 'p\u00e4ss\u0000w\u00f6rd \u{1f600}';
const ENGINES: Argon2Engine[] = [await loadNodeRsEngine(), await loadArgon2PackageEngine()];
const PAIRS = ENGINES.flatMap((writer) => ENGINES.map((reader) => ({ writer, reader })));

const otherOrder = (phc: string) => phc.replace('m=64,t=1,p=1', 'm=64,p=1,t=1');

describe.each(PAIRS)('$writer.name read by $reader.name', ({ writer, reader }) => {
  it('verifies only the right password', async () => {
    const phc = await writer.hash(PASSWORD, COST);
    expect(await reader.verify(phc, PASSWORD)).toBe(true);
    expect(await reader.verify(phc, PASSWORD.slice(0, 4))).toBe(false);
    expect(await reader.verify(phc, '')).toBe(false);
  });

  it('accepts parameters in the order m,p,t', async () => {
    const phc = otherOrder(await writer.hash(PASSWORD, COST));
    expect(phc).toContain('$m=64,p=1,t=1$');
    expect(await reader.verify(phc, PASSWORD)).toBe(true);
  });

  it('rejects a damaged hash', async () => {
    const phc = await writer.hash(PASSWORD, COST);
    const changes: [string, string][] = [
      ['argon2id', 'argon2i'],
      ['v=19', 'v=16'],
      ['m=64', 'm=1'],
      ['m=64', 'm=9999999'],
      ['m=64', 'm=-1'],
      ['t=1', 't=0'],
      ['t=1', 't=9999999'],
      ['p=1', 'p=0'],
      ['p=1', 't=1'],
      [',p=1', ''],
    ];
    const cut = [phc.slice(0, -1), phc.slice(0, phc.lastIndexOf('$')), phc.slice(1), `${phc}\n`, `${phc}$x`];
    const damaged = [
      ...changes.map(([from, to]) => phc.replace(from, to)),
      ...cut,
      '',
      'x',
      '$2b$10$abcdefghijklmnopqrstuv',
    ];
    for (const text of damaged) expect(await reader.verify(text, PASSWORD), text).toBe(false);
  });
});

describe.each(ENGINES)('$name', (engine) => {
  it('writes canonical argon2id with a 16-byte salt and a 32-byte hash', async () => {
    const phc = await engine.hash(PASSWORD, { memoryKib: 128, timeCost: 2, parallelism: 3 });
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=128,t=2,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(readArgon2Cost(phc)).toEqual({ memoryKib: 128, timeCost: 2, parallelism: 3 });
  });

  it('gives every hash its own salt', async () => {
    expect(await engine.hash(PASSWORD, COST)).not.toBe(await engine.hash(PASSWORD, COST));
  });
});

describe('readArgon2Cost', () => {
  const phcOf = (salt: string, hash: string): string => `$argon2id$v=19$m=64,t=1,p=1$${salt}$${hash}`;
  const written = (bytes: number): string => Buffer.alloc(bytes, 0xff).toString('base64').replace(/=+$/, '');

  it('accepts salts and hashes of every allowed length', () => {
    for (let bytes = 9; bytes <= 48; bytes += 1) {
      expect(readArgon2Cost(phcOf(written(bytes), written(32)))).toEqual(COST);
    }
    for (let bytes = 17; bytes <= 64; bytes += 1) {
      expect(readArgon2Cost(phcOf(written(16), written(bytes)))).toEqual(COST);
    }
  });

  it('rejects base64 that is not canonical', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    for (const last of alphabet) {
      for (const begin of ['A'.repeat(20), 'A'.repeat(21), 'A'.repeat(22), 'A'.repeat(23)]) {
        const salt = begin + last;
        const canonical = Buffer.from(salt, 'base64').toString('base64').replace(/=+$/, '') === salt;
        expect(readArgon2Cost(phcOf(salt, written(32))) !== undefined, salt).toBe(canonical);
      }
    }
  });
});

describe('loadArgon2Engine', () => {
  it('picks the fast engine where it loads', async () => {
    expect((await loadArgon2Engine()).name).toBe('@node-rs/argon2');
  });
});

// Made by other implementations, at cost 4: of `a`, of `pässwörd€`, of 72 times `a`.
const HASH_OF_A = '$2b$04$4YXCkqfaWdYbu7VLBGFKmuBD1Yc8SC2mQbg/Tkdg1k8r9rUWGoAJO';
const HASH_OF_UNICODE = '$2b$04$xF3w0o4lsidAzvm6V3pLtOYf3032r31YVZuTvXwuTnNh7jjrNdaHG';
const OF_72 = '$2b$04$xpr91gt7jAeaqPmtTq7B1uONEfIJLZjZK06tH7yMARRvgtm7bqAeW';

const verify = (hash: string, password: string) => new BcryptVerifier().verify(hash, password);

describe('a bcrypt hash', () => {
  it.each(['2a', '2b', '2y'])('of version %s verifies only the right password', async (version) => {
    const hash = HASH_OF_UNICODE.replace('2b', version);
    expect(await verify(hash, 'pässwörd€')).toBe(true);
    expect(await verify(hash, 'pässwörd')).toBe(false);
  });

  it('verifies the first 72 bytes of a password', async () => {
    expect(await verify(OF_72, 'a'.repeat(72))).toBe(true);
    expect(await verify(OF_72, `${'a'.repeat(72)}b`)).toBe(true);
    expect(await verify(OF_72, 'a'.repeat(71))).toBe(false);
  });

  it('matches no password with NUL', async () => {
    expect(await verify(HASH_OF_A, 'a')).toBe(true);
    expect(await verify(HASH_OF_A, 'a\0')).toBe(false);
    expect(await verify(HASH_OF_A, 'a\0a')).toBe(false);
  });

  it.each([
    '',
    'a',
    HASH_OF_A.slice(0, -1),
    `${HASH_OF_A}\n`,
    HASH_OF_A.replace('2b', '2x'),
    HASH_OF_A.replace('2b', '2'),
    HASH_OF_A.replace('04', '03'),
    HASH_OF_A.replace('04', '15'),
    HASH_OF_A.replace('04', '4'),
    `${HASH_OF_A.slice(0, 28)}a${HASH_OF_A.slice(29)}`,
    `${HASH_OF_A.slice(0, -1)}/`,
  ])('that is damaged or too costly matches nothing: %s', async (hash) => {
    expect(readBcryptCost(hash)).toBeUndefined();
    expect(await verify(hash, 'a')).toBe(false);
    expect(foreignHashFault(hash)).toBe('invalid_hash');
  });
});

describe('a hash of another system', () => {
  const phc = (cost: string) => `$argon2id$v=19$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

  it.each([
    HASH_OF_A,
    HASH_OF_A.replace('04', '14'),
    phc('m=65536,t=3,p=4'),
    phc('m=262144,t=4,p=16'),
    phc('m=8,t=1,p=1'),
  ])('is taken: %s', (hash) => {
    expect(foreignHashFault(hash)).toBeUndefined();
  });

  it.each([
    ['hash_too_costly', phc('m=2097152,t=1,p=4')],
    ['hash_too_costly', phc('m=262144,t=5,p=1')],
    ['hash_too_costly', phc('m=19456,t=2,p=17')],
    ['invalid_hash', phc('m=9999999,t=1,p=1')],
    ['invalid_hash', phc('m=65536,t=3,p=4').replace('argon2id', 'argon2i')],
    ['invalid_hash', `${phc('m=65536,t=3,p=4')}${'A'.repeat(300)}`],
    ['invalid_hash', '5f4dcc3b5aa765d61d8327deb882cf99'],
  ])('is refused as %s: %s', (fault, hash) => {
    expect(foreignHashFault(hash)).toBe(fault);
  });
});

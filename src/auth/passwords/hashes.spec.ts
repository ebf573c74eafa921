import { describe, expect, it } from 'vitest';
import { decoyLike } from './decoys.js';
import {
  foreignHashFault,
  type HashEngine,
  loadArgon2PackageEngine,
  loadHashEngine,
  loadNodeRsEngine,
  readArgon2Cost,
  unknownPasswordHash,
} from './hash-engines.js';

const COST = { memoryKib: 64, timeCost: 1, parallelism: 1 };
const PASSWORD = 'p\u00e4ss\u0000w\u00f6rd \u{1f600}';
const ENGINES: HashEngine[] = [await loadNodeRsEngine(), await loadArgon2PackageEngine()];
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
});

describe('readArgon2Cost', () => {
  const phcOf = (salt: string, hash: string): string => `$argon2id$v=19$m=64,t=1,p=1$${salt}$${hash}`;
  const written = (bytes: number): string => Buffer.alloc(bytes, 0xff).toString('base64').replace(/=+$/, '');

  it('accepts salts and hashes of every allowed length', () => {
    for (let bytes = 9; bytes <= 48; bytes += 1)
      expect(readArgon2Cost(phcOf(written(bytes), written(32)))).toEqual(COST);
    for (let bytes = 17; bytes <= 64; bytes += 1)
      expect(readArgon2Cost(phcOf(written(16), written(bytes)))).toEqual(COST);
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

// Made by other implementations, at cost 4: of `a`, of `pässwörd€`, of 72 times `a`.
const HASH_OF_A = '$2b$04$4YXCkqfaWdYbu7VLBGFKmuBD1Yc8SC2mQbg/Tkdg1k8r9rUWGoAJO';
const HASH_OF_UNICODE = '$2b$04$xF3w0o4lsidAzvm6V3pLtOYf3032r31YVZuTvXwuTnNh7jjrNdaHG';
const OF_72 = '$2b$04$xpr91gt7jAeaqPmtTq7B1uONEfIJLZjZK06tH7yMARRvgtm7bqAeW';

const engine = await loadHashEngine();

describe('a bcrypt hash', () => {
  it.each(['2a', '2b', '2y'])('of version %s verifies only the right password', async (version) => {
    const hash = HASH_OF_UNICODE.replace('2b', version);
    expect(await engine.verify(hash, 'pässwörd€')).toBe(true);
    expect(await engine.verify(hash, 'pässwörd')).toBe(false);
  });

  it('verifies the first 72 bytes of a password', async () => {
    expect(await engine.verify(OF_72, 'a'.repeat(72))).toBe(true);
    expect(await engine.verify(OF_72, `${'a'.repeat(72)}b`)).toBe(true);
    expect(await engine.verify(OF_72, 'a'.repeat(71))).toBe(false);
  });

  it('matches no password with NUL', async () => {
    expect(await engine.verify(HASH_OF_A, 'a')).toBe(true);
    for (const password of ['a\0', 'a\0a']) expect(await engine.verify(HASH_OF_A, password)).toBe(false);
  });

  it.each([
    '',
    'a',
    HASH_OF_A.slice(0, -1),
    `${HASH_OF_A}\n`,
    HASH_OF_A.replace('2b', '2x'),
    HASH_OF_A.replace('2b', '2'),
    HASH_OF_A.replace('04', '03'),
    HASH_OF_A.replace('04', '32'),
    HASH_OF_A.replace('04', '4'),
    `${HASH_OF_A.slice(0, 28)}a${HASH_OF_A.slice(29)}`,
    `${HASH_OF_A.slice(0, -1)}/`,
  ])('that is damaged matches nothing: %s', async (hash) => {
    expect(decoyLike(hash)).toBeUndefined();
    expect(await engine.verify(hash, 'a')).toBe(false);
    expect(foreignHashFault(hash)).toBe('invalid_hash');
  });
});

describe('a hash of another system', () => {
  const phc = (cost: string) => `$argon2id$v=19$${cost}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
  const derived = (cost: string, bytes: number) =>
    `$${cost}$${'A'.repeat(22)}$${Buffer.alloc(bytes).toString('base64').replaceAll('=', '')}`;

  it.each([
    HASH_OF_A,
    HASH_OF_A.replace('04', '13'),
    phc('m=65536,t=3,p=4'),
    phc('m=262144,t=4,p=16'),
    phc('m=8,t=1,p=1'),
    derived('pbkdf2-sha256$i=1300000', 32),
    derived('pbkdf2-sha256$i=650000', 64),
    derived('pbkdf2-sha512$i=800000,l=64', 64),
    derived('scrypt$ln=17,r=8,p=1', 32),
    derived('scrypt$ln=13,r=8,p=16', 32),
    derived('scrypt$ln=1,r=65536,p=1', 32),
    derived('firebase-scrypt$ln=14,r=8,p=1', 64),
  ])('is taken: %s', (hash) => {
    expect(foreignHashFault(hash)).toBeUndefined();
  });

  it.each([
    ['hash_too_costly', phc('m=2097152,t=1,p=4')],
    ['hash_too_costly', phc('m=262144,t=5,p=1')],
    ['hash_too_costly', phc('m=19456,t=2,p=17')],
    ['hash_too_costly', HASH_OF_A.replace('04', '14')],
    ['hash_too_costly', HASH_OF_A.replace('04', '31')],
    ['hash_too_costly', derived('pbkdf2-sha256$i=1300001', 32)],
    ['hash_too_costly', derived('pbkdf2-sha256$i=650001', 64)],
    ['hash_too_costly', derived('pbkdf2-sha512$i=800001', 64)],
    ['hash_too_costly', derived('scrypt$ln=17,r=8,p=2', 32)],
    ['hash_too_costly', derived('scrypt$ln=4,r=8,p=17', 32)],
    ['hash_too_costly', derived('scrypt$ln=1,r=524288,p=1', 32)],
    ['hash_too_costly', derived('scrypt$ln=30,r=8,p=1', 32)],
    ['hash_too_costly', derived('scrypt$ln=14,r=999999,p=1', 32)],
    ['hash_too_costly', derived('firebase-scrypt$ln=14,r=8,p=999999', 64)],
    ['invalid_hash', derived('scrypt$ln=16,r=1,p=1', 32)],
    ['invalid_hash', derived('scrypt$ln=0,r=8,p=1', 32)],
    ['hash_too_costly', derived('scrypt$ln=99,r=8,p=1', 32)],
    ['invalid_hash', derived('scrypt$ln=14,r=0,p=1', 32)],
    ['invalid_hash', derived('scrypt$ln=14,r=8', 32)],
    ['invalid_hash', derived('pbkdf2-sha1$i=1000', 20)],
    ['invalid_hash', derived('pbkdf2-sha256$i=0', 32)],
    ['invalid_hash', derived('pbkdf2-sha256$i=1e6', 32)],
    ['invalid_hash', derived('pbkdf2-sha256$i=1000', 15)],
    ['invalid_hash', derived('pbkdf2-sha256$i=1000', 65)],
    ['invalid_hash', `${derived('pbkdf2-sha256$i=1000', 32)}\n`],
    ['invalid_hash', derived('pbkdf2-sha256$i=1000', 32).slice(0, -2)],
    ['invalid_hash', undefined],
    ['invalid_hash', phc('m=9999999,t=1,p=1')],
    ['invalid_hash', phc('m=65536,t=3,p=4').replace('argon2id', 'argon2i')],
    ['invalid_hash', `${phc('m=65536,t=3,p=4')}${'A'.repeat(300)}`],
    ['invalid_hash', '5f4dcc3b5aa765d61d8327deb882cf99'],
  ])('is refused as %s: %s', (fault, hash) => {
    expect(foreignHashFault(hash)).toBe(fault);
  });

  it.each([
    HASH_OF_A.replace('04', '14'),
    derived('pbkdf2-sha256$i=1000000', 64),
    derived('pbkdf2-sha512$i=2000000', 64),
    derived('scrypt$ln=18,r=8,p=1', 32),
    derived('scrypt$ln=14,r=8,p=16', 32),
  ])('that was taken by an older version still lets its user log in: %s', (hash) => {
    expect(decoyLike(hash)).toBeDefined();
  });

  it.each([
    HASH_OF_A.replace('04', '15'),
    derived('pbkdf2-sha256$i=1000001', 64),
    derived('scrypt$ln=18,r=8,p=2', 32),
    derived('scrypt$ln=1,r=999999,p=1', 32),
    derived('firebase-scrypt$ln=1,r=999999,p=2', 32),
  ])('that no login can verify matches nothing, and has no decoy: %s', async (hash) => {
    expect(decoyLike(hash)).toBeUndefined();
    expect(await engine.verify(hash, 'a')).toBe(false);
  });
});

// Of other implementations. pbkdf2-sha256: passlib and Auth0's documentation; scrypt: RFC 7914 section 12; the last one:
// the README of firebase/scrypt, whose signer key is taken off. PBKDF2 of 64 bytes and the last scrypts are by Python's hashlib.
const DERIVED: [string, string, string][] = [
  [
    'pbkdf2-sha256',
    'Test@123',
    '$pbkdf2-sha256$i=10000,l=32$wJuJqLoUFsdXa8k3sFhRlA$2waKCbPhZzL+RjWMQqvA1jpb+j56jTAXcNmRD9UTekU',
  ],
  [
    'pbkdf2-sha256 of 64 bytes',
    'correct horse',
    '$pbkdf2-sha256$i=1000$MDEyMzQ1Njc4OWFiY2RlZg$cBg8D2DungRB9k76szThf5ehfyBz991ay6PT8Srwk4NQEC0GVAwWLSUGWbcye1xU+dO7fZFld1DsscNlAN1uxw',
  ],
  [
    'pbkdf2-sha512',
    'correct horse',
    '$pbkdf2-sha512$i=1000$MDEyMzQ1Njc4OWFiY2RlZg$OM0FAoIqCVK1sWtxDiffVlBejtLa+ks4TP71JiecwuSZCG8iLbnlIEPOMoVX+i2B2wkSxjQ8CRGR9OkNGuIPMQ',
  ],
  [
    'scrypt',
    'pleaseletmein',
    '$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUkKpr55h6F3A1lHkDfzwF7RVdYhw',
  ],
  [
    'scrypt with less work than memory',
    'correct horse',
    '$scrypt$ln=1,r=65536,p=1$MDEyMzQ1Njc4OWFiY2RlZg$D/SrQjVtNihWFECDdVJ5yfp9RmdG0Zqot5SKfVK7PMY',
  ],
  [
    'scrypt with more lanes than the import takes',
    'correct horse',
    '$scrypt$ln=4,r=1,p=17$MDEyMzQ1Njc4OWFiY2RlZg$fBVPN1gkRIvNwBqmYRupYYyu+ZrFl7uKc3t4Tl3hJhs',
  ],
  [
    'firebase-scrypt',
    'user1password',
    '$firebase-scrypt$ln=14,r=8,p=1$42xEC+ixf3L2lwc$GjH2+Jz+dglLj5NuFkZHgBvZnv8Z8VZE5sdIgEAbIgeXy+ZfSpJLu1A++pZcpx0OhX41mDwvu2Olmp+PnfLfyQ',
  ],
];

describe.each(DERIVED)('a hash by %s', (_family, password, hash) => {
  it('verifies only the right password', async () => {
    expect(await engine.verify(hash, password)).toBe(true);
    expect(await engine.verify(hash, `${password} `)).toBe(false);
    expect(await engine.verify(hash, '')).toBe(false);
  });
});

describe('a hash of no known password', () => {
  it('is random, or the same for the same source', () => {
    expect(unknownPasswordHash(COST)).not.toBe(unknownPasswordHash(COST));
    expect(unknownPasswordHash(COST, 'ada')).toBe(unknownPasswordHash(COST, 'ada'));
    expect(unknownPasswordHash(COST, 'ada')).not.toBe(unknownPasswordHash(COST, 'joan'));
    expect(readArgon2Cost(unknownPasswordHash(COST, 'ada'))).toEqual(COST);
  });
});

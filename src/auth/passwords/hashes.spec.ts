import { beforeEach, describe, expect, it } from 'vitest';
import {
  foreignHashFault,
  type HashEngine,
  loadArgon2PackageEngine,
  loadNodeRsEngine,
  readArgon2Cost,
  readBcryptCost,
  verifyBcrypt,
} from './hash-engines.js';
import { PasswordHasher } from './password-hasher.js';
import { type Argon2Cost, parseEnv } from '../../config/env.js';

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

describe('a bcrypt hash', () => {
  it.each(['2a', '2b', '2y'])('of version %s verifies only the right password', async (version) => {
    const hash = HASH_OF_UNICODE.replace('2b', version);
    expect(await verifyBcrypt(hash, 'pässwörd€')).toBe(true);
    expect(await verifyBcrypt(hash, 'pässwörd')).toBe(false);
  });

  it('verifies the first 72 bytes of a password', async () => {
    expect(await verifyBcrypt(OF_72, 'a'.repeat(72))).toBe(true);
    expect(await verifyBcrypt(OF_72, `${'a'.repeat(72)}b`)).toBe(true);
    expect(await verifyBcrypt(OF_72, 'a'.repeat(71))).toBe(false);
  });

  it('matches no password with NUL', async () => {
    expect(await verifyBcrypt(HASH_OF_A, 'a')).toBe(true);
    for (const password of ['a\0', 'a\0a']) expect(await verifyBcrypt(HASH_OF_A, password)).toBe(false);
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
    expect(await verifyBcrypt(hash, 'a')).toBe(false);
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

const CLIENT = { key: '203.0.113.7', hasLeft: () => false };
const RIGHT = 'harbor lantern';
const WRONG = 'garden lantern';

/** Says that one password is right, and notes what work it was asked for. */
class NotingEngine implements HashEngine {
  readonly name = 'noting';
  asked: ['verify' | 'hash', Argon2Cost | undefined][] = [];
  /** of bcrypt */
  rounds = 0;

  hash(_password: string, cost: Argon2Cost): Promise<string> {
    this.asked.push(['hash', cost]);
    return Promise.resolve(hashAt(cost));
  }

  verify(hash: string, password: string): Promise<boolean> {
    const bcryptCost = readBcryptCost(hash);
    if (bcryptCost === undefined) this.asked.push(['verify', readArgon2Cost(hash)]);
    else this.rounds += 2 ** bcryptCost;
    const isHash = bcryptCost !== undefined || readArgon2Cost(hash) !== undefined;
    return Promise.resolve(isHash && password === RIGHT);
  }

  /** KiB times passes of all that was asked for since the last time */
  work(): number {
    const work = this.asked.reduce((sum, [, cost]) => sum + (cost ? cost.memoryKib * cost.timeCost : 0), 0);
    this.asked = [];
    return work;
  }
}

const bcrypt = (exponent: number): string =>
  `$2y$${String(exponent).padStart(2, '0')}$${'.'.repeat(22)}${'.'.repeat(31)}`;

const cost = (memoryKib: number, timeCost: number, parallelism = 1): Argon2Cost => ({
  memoryKib,
  timeCost,
  parallelism,
});

function hashAt({ memoryKib, timeCost, parallelism }: Argon2Cost): string {
  return `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

function aHasher({ memoryKib, timeCost, parallelism }: Argon2Cost) {
  const engine = new NotingEngine();
  const env = parseEnv({
    ARGON2_MEMORY_KIB: String(memoryKib),
    ARGON2_TIME: String(timeCost),
    ARGON2_PARALLELISM: String(parallelism),
  });
  const hasher = new PasswordHasher(env, engine);
  const verify = (stored: string | undefined, password = WRONG) => hasher.verify(stored, password, CLIENT);
  return { engine, verify };
}

const CONFIGURED = cost(19_456, 2, 2);
const WORK = 19_456 * 2;

describe('a failed login', () => {
  let engine: NotingEngine;
  let verify: ReturnType<typeof aHasher>['verify'];

  beforeEach(() => {
    ({ engine, verify } = aHasher(CONFIGURED));
  });

  it.each<[string, string | undefined]>([
    ['an unknown e-mail', undefined],
    ['the configured cost', hashAt(CONFIGURED)],
    ['fewer passes', hashAt(cost(19_456, 1))],
    ['less memory', hashAt(cost(1024, 2))],
    ['next to no work', hashAt(cost(16, 1, 2))],
    ['more passes in less memory', hashAt(cost(7168, 5))],
    ['a damaged hash', '$argon2id$v=19$m=19456,t=2,p=2$'],
    ['a hash of another kind', '$2b$10$abcdefghijklmnopqrstuv'],
  ])('costs the configured work: %s', async (_what, stored) => {
    expect(await verify(stored)).toEqual({ matches: false, replacement: undefined });
    expect(Math.abs(engine.work() - WORK) / WORK).toBeLessThan(0.001);
  });

  it('uses little more memory than a hash', async () => {
    for (const [memoryKib, timeCost] of [
      [19_455, 1],
      [8192, 3],
      [9216, 2],
      [40, 1],
    ] as const)
      await verify(hashAt(cost(memoryKib, timeCost)));
    for (const [, asked] of engine.asked) expect(asked!.memoryKib).toBeLessThanOrEqual(1.25 * 19_456);
  });

  it.each(['\ud800', 'x'.repeat(513)])(
    'costs a full hash when the text cannot be a password, without comparing it',
    async (text) => {
      const weak = hashAt(cost(1024, 1));
      expect(await verify(weak, text)).toMatchObject({ matches: false });
      expect(engine.asked).toEqual([['hash', CONFIGURED]]);
    },
  );

  it('costs the work of the strongest hash seen so far, for any e-mail', async () => {
    await verify(hashAt(cost(65_536, 3)));
    expect(engine.work()).toBe(65_536 * 3);
    for (const stored of [undefined, hashAt(CONFIGURED), hashAt(cost(1024, 1)), 'damaged']) {
      await verify(stored);
      expect(Math.abs(engine.work() / (65_536 * 3) - 1), stored).toBeLessThan(0.001);
    }
  });

  it('also counts hashes seen at successful logins', async () => {
    await verify(hashAt(cost(65_536, 3)), RIGHT);
    engine.work();
    await verify(undefined);
    expect(engine.asked).toEqual([['hash', cost(65_536, 3)]]);
  });
});

describe('a failed login, once a bcrypt hash was seen', () => {
  it.each<[string, string | undefined]>([
    ['an unknown e-mail', undefined],
    ['argon2id', hashAt(CONFIGURED)],
    ['bcrypt of the highest cost', bcrypt(12)],
    ['bcrypt of a lower cost', bcrypt(10)],
    ['bcrypt of the lowest cost', bcrypt(4)],
    ['a damaged hash', '$2b$12$abc'],
  ])('costs the rounds of the strongest besides the configured work: %s', async (_what, stored) => {
    const { engine, verify } = aHasher(CONFIGURED);
    await verify(bcrypt(12), RIGHT);
    engine.asked = [];
    engine.rounds = 0;
    expect(await verify(stored)).toEqual({ matches: false, replacement: undefined });
    expect(engine.rounds).toBe(2 ** 12);
    expect(Math.abs(engine.work() - WORK) / WORK).toBeLessThan(0.001);
  });

  it('costs no rounds before', async () => {
    const { engine, verify } = aHasher(CONFIGURED);
    await verify(undefined);
    await verify(hashAt(CONFIGURED));
    expect(engine.rounds).toBe(0);
  });
});

describe('a login that succeeds', () => {
  it('rehashes bcrypt, without extra work', async () => {
    const { engine, verify } = aHasher(CONFIGURED);
    expect(await verify(bcrypt(10), RIGHT)).toEqual({ matches: true, replacement: hashAt(CONFIGURED) });
    expect(engine.asked).toEqual([['hash', CONFIGURED]]);
    expect(engine.rounds).toBe(2 ** 10);
  });

  it.each([
    ['less memory', cost(19_455, 2, 2)],
    ['fewer passes', cost(19_456, 1, 2)],
    ['fewer lanes', cost(19_456, 2, 1)],
    ['less memory and more passes', cost(9216, 4, 2)],
  ])('rehashes a hash with %s', async (_what, stored) => {
    const { engine, verify } = aHasher(CONFIGURED);
    expect(await verify(hashAt(stored), RIGHT)).toEqual({ matches: true, replacement: hashAt(CONFIGURED) });
    expect(engine.asked.slice(1)).toEqual([['hash', CONFIGURED]]);
  });

  it.each([CONFIGURED, cost(19_457, 2, 2), cost(19_456, 3, 2), cost(19_456, 2, 3)])(
    'keeps a hash that is as strong, without extra work: %j',
    async (stored) => {
      const { engine, verify } = aHasher(CONFIGURED);
      expect(await verify(hashAt(stored), RIGHT)).toEqual({ matches: true, replacement: undefined });
      expect(engine.asked).toEqual([['verify', stored]]);
    },
  );
});

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Argon2Cost, parseEnv } from '../../config/env.js';
import { decoyLike, type Decoys } from './decoys.js';
import type { HashEngine } from './hash-engines.js';
import { PasswordHasher } from './password-hasher.js';

const CLIENT = { key: '203.0.113.7', hasLeft: () => false };
const RIGHT = 'harbor lantern';
const WRONG = 'garden lantern';

const hashAt = ({ memoryKib, timeCost, parallelism }: Argon2Cost): string =>
  `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$${'B'.repeat(21)}A$${'B'.repeat(42)}A`;
const cost = (memoryKib: number, timeCost: number, parallelism = 1): Argon2Cost => ({
  memoryKib,
  timeCost,
  parallelism,
});
const CONFIGURED = cost(19_456, 2, 2);
const BCRYPT = `$2y$12$${'b'.repeat(21)}O${'b'.repeat(30)}C`;
const PBKDF2 = `$pbkdf2-sha512$i=210000$${'B'.repeat(21)}A$${'B'.repeat(85)}A`;
const FIREBASE = `$firebase-scrypt$ln=14,r=8,p=1$${'B'.repeat(12)}$${'B'.repeat(85)}A`;

/** Says that one password is right, and notes each hash that it computes. */
class NotingEngine implements HashEngine {
  readonly name = 'noting';
  computed: string[] = [];

  hash(_password: string, asked: Argon2Cost): Promise<string> {
    this.computed.push('a new hash');
    return Promise.resolve(hashAt(asked));
  }

  verify(hash: string, password: string): Promise<boolean> {
    this.computed.push(decoyLike(hash)!);
    return Promise.resolve(password === RIGHT);
  }
}

function aHasher(decoy = BCRYPT) {
  const engine = new NotingEngine();
  const env = parseEnv({ ARGON2_MEMORY_KIB: '19456', ARGON2_TIME: '2', ARGON2_PARALLELISM: '2' });
  const noted: string[] = [];
  const decoys = {
    find: () => decoyLike(decoy)!,
    note: (kind: string) => noted.push(kind),
  } as Partial<Decoys>;
  const hasher = new PasswordHasher(env, engine, decoys as Decoys);
  const verify = (passwordHash: string | undefined, password = WRONG) =>
    hasher.verify({ email: 'ada@example.com', ...(passwordHash && { passwordHash }) }, password, CLIENT);
  return { engine, noted, verify };
}

const FAILED = { matches: false, replacement: undefined };

describe('a failed login', () => {
  it.each([hashAt(CONFIGURED), hashAt(cost(1024, 1)), BCRYPT, PBKDF2, FIREBASE])(
    'computes the hash of the user and no other: %s',
    async (stored) => {
      const { engine, noted, verify } = aHasher();
      expect(await verify(stored)).toEqual(FAILED);
      expect(engine.computed).toEqual([decoyLike(stored)]);
      expect(noted).toEqual(engine.computed);
    },
  );

  it.each([undefined, 'none', '$argon2id$v=19$m=19456,t=2,p=2$', '$2b$10$abcdefghijklmnopqrstuv'])(
    'computes the decoy of an unknown email or a damaged hash, whatever the password: %s',
    async (stored) => {
      for (const decoy of [BCRYPT, PBKDF2]) {
        const { engine, noted, verify } = aHasher(decoy);
        expect(await verify(stored)).toEqual(FAILED);
        expect(await verify(stored, RIGHT)).toEqual(FAILED);
        expect(engine.computed).toEqual([decoyLike(decoy), decoyLike(decoy)]);
        expect(noted).toEqual([]);
      }
    },
  );

  it.each(['\ud800', 'x'.repeat(513), ''])(
    'computes the same if the text cannot be a password',
    async (text) => {
      const { engine, verify } = aHasher();
      expect(await verify(PBKDF2, text)).toEqual(FAILED);
      expect(await verify(undefined, text)).toEqual(FAILED);
      expect(engine.computed).toEqual([decoyLike(PBKDF2), decoyLike(BCRYPT)]);
    },
  );
});

it('fails if the engine does, because a right password must not be wrong for want of memory', async () => {
  const { engine, verify } = aHasher();
  vi.spyOn(engine, 'verify').mockRejectedValue(new Error('Scrypt failed: malloc failure'));
  await expect(verify(FIREBASE, RIGHT)).rejects.toThrow('malloc failure');
});

describe('a login that succeeds', () => {
  let { engine, verify } = aHasher();
  beforeEach(() => {
    ({ engine, verify } = aHasher());
  });

  it.each([BCRYPT, PBKDF2, FIREBASE])('replaces a hash of another family: %s', async (stored) => {
    expect(await verify(stored, RIGHT)).toEqual({ matches: true, replacement: hashAt(CONFIGURED) });
    expect(engine.computed).toEqual([decoyLike(stored), 'a new hash']);
  });

  it.each([
    ['less memory', cost(19_455, 2, 2)],
    ['fewer passes', cost(19_456, 1, 2)],
    ['fewer lanes', cost(19_456, 2, 1)],
    ['less memory and more passes', cost(9216, 4, 2)],
  ])('replaces a hash with %s', async (_what, stored) => {
    expect(await verify(hashAt(stored), RIGHT)).toEqual({ matches: true, replacement: hashAt(CONFIGURED) });
  });

  it.each([CONFIGURED, cost(19_457, 2, 2), cost(19_456, 3, 2), cost(19_456, 2, 3)])(
    'keeps a hash that is as strong, without extra work: %j',
    async (stored) => {
      expect(await verify(hashAt(stored), RIGHT)).toEqual({ matches: true, replacement: undefined });
      expect(engine.computed).toEqual([decoyLike(hashAt(stored))]);
    },
  );
});

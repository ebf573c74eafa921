import { beforeEach, describe, expect, it } from 'vitest';
import { type Argon2Cost, parseEnv } from '../../config/env.js';
import { type Argon2Engine, BcryptVerifier, readArgon2Cost, readBcryptCost } from './hash-engines.js';
import { PasswordHasher } from './password-hasher.js';

const CLIENT = { key: '203.0.113.7', hasLeft: () => false };
const RIGHT = 'harbor lantern';
const WRONG = 'garden lantern';

/** Says that one password is right, and notes what work it was asked for. */
class NotingEngine implements Argon2Engine {
  readonly name = 'noting';
  asked: ['verify' | 'hash', Argon2Cost | undefined][] = [];

  hash(_password: string, cost: Argon2Cost): Promise<string> {
    this.asked.push(['hash', cost]);
    return Promise.resolve(phc(cost));
  }

  verify(hash: string, password: string): Promise<boolean> {
    this.asked.push(['verify', readArgon2Cost(hash)]);
    return Promise.resolve(readArgon2Cost(hash) !== undefined && password === RIGHT);
  }

  /** KiB times passes of all that was asked for since the last time */
  work(): number {
    const work = this.asked.reduce((sum, [, cost]) => sum + (cost ? cost.memoryKib * cost.timeCost : 0), 0);
    this.asked = [];
    return work;
  }
}

/** As the other engine; its work is in rounds. */
class NotingBcrypt extends BcryptVerifier {
  rounds = 0;

  override verify(hash: string, password: string): Promise<boolean> {
    this.rounds += 2 ** readBcryptCost(hash)!;
    return Promise.resolve(password === RIGHT);
  }
}

const bcrypt = (exponent: number): string =>
  `$2y$${String(exponent).padStart(2, '0')}$${'.'.repeat(22)}${'.'.repeat(31)}`;

const cost = (memoryKib: number, timeCost: number, parallelism = 1): Argon2Cost => ({
  memoryKib,
  timeCost,
  parallelism,
});

function phc({ memoryKib, timeCost, parallelism }: Argon2Cost): string {
  return `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
}

function aHasher({ memoryKib, timeCost, parallelism }: Argon2Cost) {
  const engine = new NotingEngine();
  const env = parseEnv({
    ARGON2_MEMORY_KIB: String(memoryKib),
    ARGON2_TIME: String(timeCost),
    ARGON2_PARALLELISM: String(parallelism),
  });
  const bcryptVerifier = new NotingBcrypt();
  const hasher = new PasswordHasher(env, engine, bcryptVerifier);
  const verify = (stored: string | undefined, password = WRONG) => hasher.verify(stored, password, CLIENT);
  return { engine, bcryptVerifier, verify };
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
    ['the configured cost', phc(CONFIGURED)],
    ['fewer passes', phc(cost(19_456, 1))],
    ['less memory', phc(cost(1024, 2))],
    ['next to no work', phc(cost(16, 1, 2))],
    ['more passes in less memory', phc(cost(7168, 5))],
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
    ] as const) {
      await verify(phc(cost(memoryKib, timeCost)));
    }
    for (const [, asked] of engine.asked) expect(asked!.memoryKib).toBeLessThanOrEqual(1.25 * 19_456);
  });

  it.each(['\ud800', 'x'.repeat(513)])(
    'costs a full hash when the text cannot be a password, without comparing it',
    async (text) => {
      const weak = phc(cost(1024, 1));
      expect(await verify(weak, text)).toMatchObject({ matches: false });
      expect(engine.asked).toEqual([['hash', CONFIGURED]]);
    },
  );

  it('costs the work of the strongest hash seen so far, for any e-mail', async () => {
    await verify(phc(cost(65_536, 3)));
    expect(engine.work()).toBe(65_536 * 3);
    for (const stored of [undefined, phc(CONFIGURED), phc(cost(1024, 1)), 'damaged']) {
      await verify(stored);
      expect(Math.abs(engine.work() / (65_536 * 3) - 1), stored).toBeLessThan(0.001);
    }
  });

  it('also counts hashes seen at successful logins', async () => {
    await verify(phc(cost(65_536, 3)), RIGHT);
    engine.work();
    await verify(undefined);
    expect(engine.asked).toEqual([['hash', cost(65_536, 3)]]);
  });
});

describe('a failed login, once a bcrypt hash was seen', () => {
  it.each<[string, string | undefined]>([
    ['an unknown e-mail', undefined],
    ['argon2id', phc(CONFIGURED)],
    ['bcrypt of the highest cost', bcrypt(12)],
    ['bcrypt of a lower cost', bcrypt(10)],
    ['bcrypt of the lowest cost', bcrypt(4)],
    ['a damaged hash', '$2b$12$abc'],
  ])('costs the rounds of the strongest besides the configured work: %s', async (_what, stored) => {
    const { engine, bcryptVerifier, verify } = aHasher(CONFIGURED);
    await verify(bcrypt(12), RIGHT);
    engine.asked = [];
    bcryptVerifier.rounds = 0;
    expect(await verify(stored)).toEqual({ matches: false, replacement: undefined });
    expect(bcryptVerifier.rounds).toBe(2 ** 12);
    expect(Math.abs(engine.work() - WORK) / WORK).toBeLessThan(0.001);
  });

  it('costs no rounds before', async () => {
    const { bcryptVerifier, verify } = aHasher(CONFIGURED);
    await verify(undefined);
    await verify(phc(CONFIGURED));
    expect(bcryptVerifier.rounds).toBe(0);
  });
});

describe('a login that succeeds', () => {
  it('rehashes bcrypt, without extra work', async () => {
    const { engine, bcryptVerifier, verify } = aHasher(CONFIGURED);
    expect(await verify(bcrypt(10), RIGHT)).toEqual({ matches: true, replacement: phc(CONFIGURED) });
    expect(engine.asked).toEqual([['hash', CONFIGURED]]);
    expect(bcryptVerifier.rounds).toBe(2 ** 10);
  });

  it.each([
    ['less memory', cost(19_455, 2, 2)],
    ['fewer passes', cost(19_456, 1, 2)],
    ['fewer lanes', cost(19_456, 2, 1)],
    ['less memory and more passes', cost(9216, 4, 2)],
  ])('rehashes a hash with %s', async (_what, stored) => {
    const { engine, verify } = aHasher(CONFIGURED);
    expect(await verify(phc(stored), RIGHT)).toEqual({ matches: true, replacement: phc(CONFIGURED) });
    expect(engine.asked).toEqual([
      ['verify', stored],
      ['hash', CONFIGURED],
    ]);
  });

  it.each([
    ['the configured cost', CONFIGURED],
    ['more memory', cost(19_457, 2, 2)],
    ['more passes', cost(19_456, 3, 2)],
    ['more lanes', cost(19_456, 2, 3)],
  ])('keeps a hash with %s, without extra work', async (_what, stored) => {
    const { engine, verify } = aHasher(CONFIGURED);
    expect(await verify(phc(stored), RIGHT)).toEqual({ matches: true, replacement: undefined });
    expect(engine.asked).toEqual([['verify', stored]]);
  });

  it('never succeeds for an unknown e-mail, even with the password of the dummy hash', async () => {
    const { verify } = aHasher(CONFIGURED);
    expect(await verify(undefined, RIGHT)).toEqual({ matches: false, replacement: undefined });
  });
});

import { describe, expect, it } from 'vitest';
import {
  type Argon2Engine,
  loadArgon2Engine,
  loadArgon2PackageEngine,
  loadNodeRsEngine,
  readArgon2Cost,
} from './hash-engines.js';

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
    const damaged = [
      '',
      'x',
      '$2b$10$abcdefghijklmnopqrstuv',
      phc.slice(0, -1),
      phc.slice(0, phc.lastIndexOf('$')),
      phc.slice(1),
      `${phc}\n`,
      `${phc}$x`,
      phc.replace('argon2id', 'argon2i'),
      phc.replace('v=19', 'v=16'),
      phc.replace('m=64', 'm=1'),
      phc.replace('m=64', 'm=9999999'),
      phc.replace('m=64', 'm=-1'),
      phc.replace('t=1', 't=0'),
      phc.replace('t=1', 't=9999999'),
      phc.replace('p=1', 'p=0'),
      phc.replace('p=1', 't=1'),
      phc.replace(',p=1', ''),
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

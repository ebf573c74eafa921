import type { Argon2Cost } from '../../config/env.js';

/** Hashes are argon2id (RFC 9106) with a fresh 16-byte salt, as PHC strings with `m,t,p` in that order. */
export interface Argon2Engine {
  name: string;
  hash(password: string, cost: Argon2Cost): Promise<string>;
  /** Returns false for a wrong password and for a damaged hash; throws only when the engine fails. */
  verify(phc: string, password: string): Promise<boolean>;
}

const ARGON2ID = 2;
const HASH_BYTES = 32;
const PHC =
  /^\$argon2id\$v=19\$([mtp])=(\d{1,7}),([mtp])=(\d{1,7}),([mtp])=(\d{1,7})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/;
/** Refuses padding and stray bits at the end (RFC 4648 section 3.5), on which the engines disagree. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048])?$/;
/** The configuration allows no more either: a damaged hash must not ask for hours or for all memory. */
const MAX: Argon2Cost = { memoryKib: 4_194_304, timeCost: 100, parallelism: 64 };

export function readArgon2Cost(phc: string): Argon2Cost | undefined {
  const [, ...parts] = PHC.exec(phc) ?? [];
  const [key1, value1, key2, value2, key3, value3, salt, hash] = parts;
  if (salt === undefined || hash === undefined || !BASE64.test(salt) || !BASE64.test(hash)) return undefined;
  const value = Object.fromEntries([
    [key1, Number(value1)],
    [key2, Number(value2)],
    [key3, Number(value3)],
  ]) as { m?: number; t?: number; p?: number };
  const { m, t, p } = value;
  if (m === undefined || t === undefined || p === undefined) return undefined;
  // RFC 9106 section 3.1 asks for at least 8 KiB per lane.
  const possible = p >= 1 && t >= 1 && m >= 8 * p;
  const bearable = m <= MAX.memoryKib && t <= MAX.timeCost && p <= MAX.parallelism;
  return possible && bearable ? { memoryKib: m, timeCost: t, parallelism: p } : undefined;
}

/** Rejects where this optional dependency has no binary for the platform. */
export async function loadNodeRsEngine(): Promise<Argon2Engine> {
  const { hash, verify } = await import('@node-rs/argon2');
  return {
    name: '@node-rs/argon2',
    hash: (password, { memoryKib, timeCost, parallelism }) =>
      hash(password, {
        algorithm: ARGON2ID,
        memoryCost: memoryKib,
        timeCost,
        parallelism,
        outputLen: HASH_BYTES,
      }),
    verify: async (phc, password) => readArgon2Cost(phc) !== undefined && (await verify(phc, password)),
  };
}

/** npm leaves this fallback out where its install script fails. */
export async function loadArgon2PackageEngine(): Promise<Argon2Engine> {
  const { argon2id, hash, verify } = await import('argon2');
  return {
    name: 'argon2',
    hash: async (password, { memoryKib, timeCost, parallelism }) => {
      const phc = await hash(Buffer.from(password, 'utf8'), {
        type: argon2id,
        memoryCost: memoryKib,
        timeCost,
        parallelism,
        hashLength: HASH_BYTES,
      });
      // argon2 0.45 writes m,p,t, which the reference decoder and argon2-cffi refuse.
      return phc.replace(/(m=\d+),(p=\d+),(t=\d+)/, '$1,$3,$2');
    },
    verify: async (phc, password) =>
      readArgon2Cost(phc) !== undefined && (await verify(phc, Buffer.from(password, 'utf8'))),
  };
}

export function loadArgon2Engine(): Promise<Argon2Engine> {
  return loadNodeRsEngine().catch(loadArgon2PackageEngine);
}

export const ARGON2_ENGINE = Symbol('Argon2Engine');

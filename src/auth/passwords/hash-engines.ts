import { createHash, randomBytes } from 'node:crypto';
import type { Argon2Cost } from '../../config/env.js';
import { BASE64, IMPORTED, readForeignHash, VERIFIED } from './foreign-hashes.js';

/** Hashes are argon2id (RFC 9106) with a fresh 16-byte salt, as PHC strings with `m,t,p` in that order. */
export interface HashEngine {
  name: string;
  hash(password: string, cost: Argon2Cost): Promise<string>;
  /** Returns false for a wrong password and for a damaged hash; throws only when the engine fails. */
  verify(phc: string, password: string): Promise<boolean>;
}

const ARGON2ID = 2;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
const PHC =
  /^\$argon2id\$v=19\$([mtp]=\d{1,7},[mtp]=\d{1,7},[mtp]=\d{1,7})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{22,86})$/;
/** the maximum of the configuration: a damaged hash must not take hours or all memory */
const MAX: Argon2Cost = { memoryKib: 4_194_304, timeCost: 100, parallelism: 64 };

export function readArgon2Cost(phc: string): Argon2Cost | undefined {
  const [, parameters, salt, hash] = PHC.exec(phc) ?? [];
  if (!parameters || !salt || !hash || !BASE64.test(salt) || !BASE64.test(hash)) return undefined;
  const values = parameters.split(',').map((parameter) => [parameter[0], Number(parameter.slice(2))]);
  const { m = 0, t = 0, p = 0 } = Object.fromEntries(values) as { m?: number; t?: number; p?: number };
  // RFC 9106 section 3.1 asks for at least 8 KiB per lane.
  const isPossible = p >= 1 && t >= 1 && m >= 8 * p;
  const isBearable = m <= MAX.memoryKib && t <= MAX.timeCost && p <= MAX.parallelism;
  return isPossible && isBearable ? { memoryKib: m, timeCost: t, parallelism: p } : undefined;
}

/** Of no known password, and verified in the time of any other. The same for the same source, by default random. */
export function unknownPasswordHash(
  { memoryKib, timeCost, parallelism }: Argon2Cost,
  source: string | Buffer = randomBytes(HASH_BYTES),
): string {
  const bytes = createHash('sha512').update(source).digest();
  const part = (begin: number, end: number): string =>
    bytes.subarray(begin, end).toString('base64').replaceAll('=', '');
  const ending = `${part(HASH_BYTES, HASH_BYTES + SALT_BYTES)}$${part(0, HASH_BYTES)}`;
  return `$argon2id$v=19$m=${memoryKib},t=${timeCost},p=${parallelism}$${ending}`;
}

/** @floor login, register 0.8: half the CPU of the package `argon2`, 169 hashes a second instead of 95 */
export async function loadNodeRsEngine(): Promise<HashEngine> {
  const { hash, verify } = await import('@node-rs/argon2');
  return {
    name: '@node-rs/argon2',
    hash: (password, { memoryKib: memoryCost, ...cost }) =>
      hash(password, { algorithm: ARGON2ID, memoryCost, ...cost, outputLen: HASH_BYTES }),
    verify: async (phc, password) => readArgon2Cost(phc) !== undefined && (await verify(phc, password)),
  };
}

export async function loadArgon2PackageEngine(): Promise<HashEngine> {
  const { argon2id, hash, verify } = await import('argon2');
  return {
    name: 'argon2',
    hash: async (password, { memoryKib: memoryCost, ...cost }) => {
      const options = { type: argon2id, memoryCost, ...cost, hashLength: HASH_BYTES };
      const phc = await hash(Buffer.from(password, 'utf8'), options);
      // argon2 0.45 writes m,p,t, which the reference decoder and argon2-cffi refuse.
      return phc.replace(/(m=\d+),(p=\d+),(t=\d+)/, '$1,$3,$2');
    },
    verify: async (phc, password) =>
      readArgon2Cost(phc) !== undefined && (await verify(phc, Buffer.from(password, 'utf8'))),
  };
}

export async function loadHashEngine(): Promise<HashEngine> {
  const argon2 = await loadNodeRsEngine().catch(loadArgon2PackageEngine);
  const verify: HashEngine['verify'] = async (hash, password) => {
    const foreign = readForeignHash(hash);
    return foreign ? foreign.isWithin(VERIFIED) && foreign.verify(password) : argon2.verify(hash, password);
  };
  return { ...argon2, verify };
}

export const HASH_ENGINE = Symbol('HashEngine');

/** A login may cost at most 256 MiB and about half a second (memory times passes). */
const MAX_MEMORY_KIB = 262_144;
const MAX_WORK_KIB = 1_048_576;
const MAX_PARALLELISM = 16;
const MAX_LENGTH = 255;

export type HashFault = 'invalid_hash' | 'hash_too_costly';

export function foreignHashFault(hash: unknown): HashFault | undefined {
  if (typeof hash !== 'string' || hash.length > MAX_LENGTH) return 'invalid_hash';
  const foreign = readForeignHash(hash);
  if (foreign) return foreign.isWithin(IMPORTED) ? undefined : 'hash_too_costly';
  const cost = readArgon2Cost(hash);
  if (cost === undefined) return 'invalid_hash';
  const { memoryKib, timeCost, parallelism } = cost;
  const isTooCostly = memoryKib > MAX_MEMORY_KIB || memoryKib * timeCost > MAX_WORK_KIB;
  return isTooCostly || parallelism > MAX_PARALLELISM ? 'hash_too_costly' : undefined;
}

import { Injectable } from '@nestjs/common';
import type { Argon2Cost } from '../../config/env.js';
import { readArgon2Cost } from './argon2.js';

/** Matches 16 bytes of salt and 23 of hash in bcrypt's own base64, without stray bits at the end of either. */
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;
const MIN_COST = 4;
/** A verification takes 2^cost rounds, here about a second. Beyond, a login could miss its deadline. */
export const MAX_BCRYPT_COST = 14;

const MAX_BYTES = 72;

export function readBcryptCost(hash: string): number | undefined {
  const [, digits] = BCRYPT.exec(hash) ?? [];
  const cost = Number(digits);
  return cost >= MIN_COST && cost <= MAX_BCRYPT_COST ? cost : undefined;
}

/** Verifies hashes of other systems; none is ever made here. It computes in libuv's threads, as argon2 does. */
@Injectable()
export class BcryptVerifier {
  /** Other systems hashed the first 72 bytes of a longer password, so no more than those are verified. */
  async verify(hash: string, password: string): Promise<boolean> {
    if (readBcryptCost(hash) === undefined) return false;
    const { compare } = await loadBcrypt();
    const bytes = Buffer.from(password, 'utf8');
    // 2a, 2b and 2y differ in bugs with passwords beyond 72 bytes only; the package does not know 2y.
    const matches = await compare(bytes.subarray(0, MAX_BYTES), `$2b${hash.slice('$2b'.length)}`);
    // Many implementations end a password at NUL: one that continues could match the hash of a shorter one.
    return matches && !bytes.includes(0);
  }
}

/** Rejects where npm could not install this optional dependency. */
export function loadBcrypt(): Promise<typeof import('bcrypt')> {
  return import('bcrypt');
}

/** A login may cost 256 MiB, and about a second (memory times passes). */
const MAX_MEMORY_KIB = 262_144;
const MAX_WORK_KIB = 1_048_576;
const MAX_PARALLELISM = 16;
const MAX_LENGTH = 255;

export type HashFault = 'invalid_hash' | 'hash_too_costly';

export function foreignHashFault(hash: string): HashFault | undefined {
  if (hash.length > MAX_LENGTH) return 'invalid_hash';
  if (readBcryptCost(hash) !== undefined) return undefined;
  const cost = readArgon2Cost(hash);
  if (cost === undefined) return 'invalid_hash';
  return isBearable(cost) ? undefined : 'hash_too_costly';
}

function isBearable({ memoryKib, timeCost, parallelism }: Argon2Cost): boolean {
  return (
    memoryKib <= MAX_MEMORY_KIB && memoryKib * timeCost <= MAX_WORK_KIB && parallelism <= MAX_PARALLELISM
  );
}

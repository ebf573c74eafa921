import type { Argon2Cost } from '../../config/env.js';
import { readArgon2Cost } from './argon2.js';
import { readBcryptCost } from './bcrypt.js';

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

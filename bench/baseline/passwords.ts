import { availableParallelism } from 'node:os';
import { conflict } from './problems.ts';

interface Engine {
  name: string;
  hash(password: string): Promise<string>;
  verify(hash: string, password: string): Promise<boolean>;
}

const MEMORY_KIB = 19_456;
const TIME_COST = 2;
const MAX_WAITING = 256;
const CURRENT_COST = /^\$argon2id\$v=19\$(?:m=19456,t=2,p=1|m=19456,p=1,t=2)\$/;

/** The same PHC strings from either engine; the native one needs half the CPU. */
async function loadEngine(): Promise<Engine> {
  try {
    const { hash, verify } = await import('@node-rs/argon2');
    const cost = { algorithm: 2, memoryCost: MEMORY_KIB, timeCost: TIME_COST, parallelism: 1 };
    return { name: '@node-rs/argon2', hash: (password) => hash(password, cost), verify };
  } catch {
    const { hash, verify, argon2id } = await import('argon2');
    const cost = { type: argon2id as 2, memoryCost: MEMORY_KIB, timeCost: TIME_COST, parallelism: 1 };
    return { name: 'argon2', hash: (password) => hash(password, cost), verify };
  }
}

const engine = await loadEngine();
const waiting: (() => void)[] = [];
let free = availableParallelism();

/** As many hashes at once as there are cores: more would only lengthen the tail of the other routes. */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free -= 1;
  else if (waiting.length >= MAX_WAITING) throw conflict();
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}

export const hashEngine = engine.name;

export function hashPassword(password: string): Promise<string> {
  return bounded(() => engine.hash(password));
}

const dummyHash = await engine.hash('nobody has this password');

/** Does the same work whether or not there is a hash to compare with. */
export async function verifyPassword(hash: string | undefined, password: string): Promise<boolean> {
  const matches = await bounded(() => engine.verify(hash ?? dummyHash, password));
  return matches && hash !== undefined;
}

export function needsRehash(hash: string): boolean {
  return !CURRENT_COST.test(hash);
}

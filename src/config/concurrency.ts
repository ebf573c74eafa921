import { availableParallelism } from 'node:os';
import type { Env } from './env.js';

/** Returns 1, or WEB_CONCURRENCY if the configuration lets several processes share the port. */
export function workersFor(env: Env): { workers: number; reason?: string } {
  const wanted = env.webConcurrency === 'auto' ? availableParallelism() : env.webConcurrency;
  const reason = reasonForOne(env);
  return wanted > 1 && reason !== undefined ? { workers: 1, reason } : { workers: wanted };
}

function reasonForOne(env: Env): string | undefined {
  if (env.database.engine === 'sqlite') return 'SQLite supports a single process';
  if (hasLimit(env) && env.redisUrl === undefined)
    return 'without REDIS_URL, every process would count requests by itself';
  return undefined;
}

/** Finds limits by name, so that one that is added counts, too. */
function hasLimit(env: Env): boolean {
  return Object.entries(env).some(([name, limit]) => name.startsWith('rateLimit') && limit !== undefined);
}

import { Redis } from 'ioredis';
import type { RateLimit } from '../config/env.js';
import type { Admission, RateLimitStore } from './rate-limit-store.js';

const KEY_PREFIX = 'accounts:rate-limit:';
const CONNECT_TIMEOUT_MS = 1000;
const LONGEST_RECONNECT_PAUSE_MS = 1000;

/**
 * The sliding log of one key as a list of times, oldest first. It runs as one step on the server and by the
 * server's clock, so that neither the number of instances nor their clocks matter.
 */
const ADMIT = `
local window = tonumber(ARGV[1])
local limit = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
while oldest and oldest <= now - window do
  redis.call('LPOP', KEYS[1])
  oldest = tonumber(redis.call('LINDEX', KEYS[1], 0))
end
local used = redis.call('LLEN', KEYS[1])
if used >= limit then return {0, 0, oldest + window - now} end
redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], window)
return {1, limit - used - 1, (oldest or now) + window - now}
`;

type Reply = [admitted: 0 | 1, remaining: number, resetMs: number];

interface ScriptedRedis extends Redis {
  admit(key: string, windowMs: number, limit: number): Promise<Reply>;
}

/** The window that all instances share. Fails when Redis does; see FallbackStore for what happens then. */
export class RedisWindowStore implements RateLimitStore {
  readonly degraded = false;
  private readonly redis: ScriptedRedis;
  /** why there was none the last time */
  private connectionError: Error | undefined;

  /** @param ca PEM certificates that a `rediss://` server is trusted by; undefined: those that Node knows */
  constructor(url: string, ca?: string) {
    this.redis = new Redis(url, {
      ...(ca !== undefined && { tls: { ca } }),
      connectTimeout: CONNECT_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, LONGEST_RECONNECT_PAUSE_MS),
      scripts: { admit: { lua: ADMIT, numberOfKeys: 1 } },
    }) as ScriptedRedis;
    // Every failed connection is seen by the request or the probe that needed it.
    this.redis.on('error', (error: Error) => (this.connectionError = error));
  }

  async admit(key: string, { limit, windowMs }: RateLimit): Promise<Admission> {
    if (this.redis.status !== 'ready') {
      throw new Error('there is no connection', { cause: this.connectionError });
    }
    const [admitted, remaining, resetMs] = await this.redis.admit(KEY_PREFIX + key, windowMs, limit);
    return { admitted: admitted === 1, remaining, resetMs };
  }

  close(): void {
    this.redis.disconnect();
  }
}

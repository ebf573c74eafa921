import { Redis } from 'ioredis';
import type { Admission, Counter, Quota, RateLimitStore } from './rate-limit-store.js';

const KEY_PREFIX = 'accounts:rate-limit:';
const CONNECT_TIMEOUT_MS = 1000;
const LONGEST_RECONNECT_PAUSE_MS = 1000;

/**
 * The sliding log of each key is a list of times, oldest first. A script runs as one step on the server and by
 * the server's clock, so that neither the number of instances nor their clocks matter. `rule(i)` reads the window
 * and the limit of the i-th key from the arguments, `quotas()` what is left of all keys.
 */
const WINDOWS = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function rule(i)
  return tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
end
local function used(i)
  local window = rule(i)
  local oldest = tonumber(redis.call('LINDEX', KEYS[i], 0))
  while oldest and oldest <= now - window do
    redis.call('LPOP', KEYS[i])
    oldest = tonumber(redis.call('LINDEX', KEYS[i], 0))
  end
  return redis.call('LLEN', KEYS[i]), oldest or now
end
local function quotas(first)
  local reply = {first}
  for i = 1, #KEYS do
    local window, limit = rule(i)
    local count, oldest = used(i)
    reply[2 * i] = limit - count
    reply[2 * i + 1] = oldest + window - now
  end
  return reply
end
`;

/** Replies with the time that was recorded, 0 when the request is refused, and the quotas. */
const ADMIT = `${WINDOWS}
for i = 1, #KEYS do
  local _, limit = rule(i)
  if used(i) >= limit then return quotas(0) end
end
for i = 1, #KEYS do
  redis.call('RPUSH', KEYS[i], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[i], (rule(i)))
end
return quotas(now)
`;

/** The first argument is the time that ADMIT recorded. */
const GIVE_BACK = `${WINDOWS}
for i = 1, #KEYS do redis.call('LREM', KEYS[i], -1, ARGV[1]) end
return quotas(0)
`;

type Reply = [admittedAt: number, ...quotas: number[]];
type Script = (numberOfKeys: number, ...keysAndArguments: (string | number)[]) => Promise<Reply>;

interface ScriptedRedis extends Redis {
  admit: Script;
  giveBack: Script;
}

/** The windows that all instances share. Fails when Redis does; see FallbackStore for what happens then. */
export class RedisWindowStore implements RateLimitStore {
  readonly degraded = false;
  private readonly redis: ScriptedRedis;

  constructor(url: string) {
    this.redis = new Redis(url, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, LONGEST_RECONNECT_PAUSE_MS),
      scripts: { admit: { lua: ADMIT }, giveBack: { lua: GIVE_BACK } },
    }) as ScriptedRedis;
    // Every failed connection is seen by the request or the probe that needed it.
    this.redis.on('error', () => undefined);
  }

  async admit(counters: readonly Counter[]): Promise<Admission> {
    const rules = counters.flatMap(({ windowMs, limit }) => [windowMs, limit]);
    const keys = counters.map(({ key }) => KEY_PREFIX + key);
    const [time, ...numbers] = await this.redis.admit(keys.length, ...keys, 0, ...rules);
    const quotas = pairs(numbers);
    return {
      admitted: time > 0,
      quotas,
      giveBack: async () => {
        if (time === 0) return quotas;
        const [, ...left] = await this.redis.giveBack(keys.length, ...keys, time, ...rules);
        return pairs(left);
      },
    };
  }

  close(): void {
    this.redis.disconnect();
  }
}

function pairs(numbers: number[]): Quota[] {
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    remaining: numbers[2 * i]!,
    resetMs: numbers[2 * i + 1]!,
  }));
}

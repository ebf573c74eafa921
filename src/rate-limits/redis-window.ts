import { Redis } from 'ioredis';
import type { Admission, Counter, Quota, RateLimitStore } from './rate-limit-store.js';

const KEY_PREFIX = 'accounts:rate-limit:';
const CONNECT_TIMEOUT_MS = 1000;
const MAX_RECONNECT_BACKOFF_MS = 1000;
/** A server that hangs would be sent a probe each second, and all of them kept. */
const SOCKET_TIMEOUT_MS = 5000;

// The log of each key is a list of times, oldest first. ADMIT is one step on the server's clock, so that the number of
// instances and their clocks do not matter. Arguments: window and limit of each key. Reply: the recorded time, or 0 for
// a refused request, then remaining requests and reset of each key.
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function rule(i)
  return tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
end
local function used(i)
  local window = rule(i)
  local oldest = tonumber(redis.call('LINDEX', KEYS[i], 0))
  while oldest and oldest <= now - window do
    redis.call('LPOP', KEYS[i])
    oldest = tonumber(redis.call('LINDEX', KEYS[i], 0))
  end
  return redis.call('LLEN', KEYS[i])
end
local function quotas(admitted)
  local reply = {admitted}
  for i = 1, #KEYS do
    local window, limit = rule(i)
    -- negative where another instance has a higher limit
    local left = limit - used(i)
    local first = tonumber(redis.call('LINDEX', KEYS[i], math.max(0, -left))) or now
    reply[2 * i] = math.max(0, left)
    reply[2 * i + 1] = first + window - now
  end
  return reply
end
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

const GIVE_BACK = `
for i = 1, #KEYS do redis.call('LREM', KEYS[i], -1, ARGV[1]) end
`;

type Reply = [admittedAt: number, ...quotas: number[]];
type Script<T> = (numberOfKeys: number, ...keysAndArguments: (string | number)[]) => Promise<T>;

interface ScriptedRedis extends Redis {
  admit: Script<Reply>;
  giveBack: Script<null>;
}

/** Windows that all instances share. They fail with Redis, which FallbackStore handles. */
export class RedisWindowStore implements RateLimitStore {
  readonly degraded = false;
  private readonly redis: ScriptedRedis;
  private connectionError: Error | undefined;

  constructor(url: string, ca?: string) {
    this.redis = new Redis(url, {
      ...(ca !== undefined && { tls: { ca } }),
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RECONNECT_BACKOFF_MS),
      scripts: { admit: { lua: ADMIT }, giveBack: { lua: GIVE_BACK } },
    }) as ScriptedRedis;
    // The request or the probe that needs the connection sees its failure.
    this.redis.on('error', (error: Error) => (this.connectionError = error));
  }

  async admit(counters: readonly Counter[]): Promise<Admission> {
    if (this.redis.status !== 'ready') {
      throw new Error('not connected', { cause: this.connectionError });
    }
    const rules = counters.flatMap(({ windowMs, limit }) => [windowMs, limit]);
    const keys = keysOf(counters);
    const [time, ...quotas] = await this.redis.admit(keys.length, ...keys, ...rules);
    return {
      admitted: time > 0,
      quotas: pairs(quotas),
      giveBack: async (uncounted = counters) =>
        void (await this.redis.giveBack(uncounted.length, ...keysOf(uncounted), time)),
    };
  }

  close(): void {
    this.redis.disconnect();
  }
}

const keysOf = (counters: readonly Counter[]): string[] => counters.map(({ key }) => KEY_PREFIX + key);

function pairs(numbers: number[]): Quota[] {
  return Array.from({ length: numbers.length / 2 }, (_, i) => ({
    remaining: numbers[2 * i]!,
    resetMs: numbers[2 * i + 1]!,
  }));
}

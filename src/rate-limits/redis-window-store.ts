import { once } from 'node:events';
import { Redis } from 'ioredis';
import type { Admission, Counter, Lift, Quota, RateLimitStore } from './rate-limit-store.js';

const KEY_PREFIX = 'accounts:rate-limit:';
const LOOK = 'look';
const NO_LIFT_KEY = `${KEY_PREFIX}none`;
const CONNECT_TIMEOUT_MS = 1000;
const MAX_RECONNECT_BACKOFF_MS = 1000;
const SOCKET_TIMEOUT_MS = 5000;

// Each key has a list of times, oldest first, by the clock of the Redis server. Keys: the counters, then their lift keys.
// Arguments: window and limit of each, then one more to count nothing. Reply: the recorded time or 0, then remaining and
// reset of each.
const ADMIT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local counters = #KEYS / 2
local function rule(i)
  return tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
end
local function used(i)
  local window = rule(i)
  local lifted = tonumber(redis.call('GET', KEYS[counters + i]) or 0)
  local over = math.max(now - window, lifted)
  local oldest = tonumber(redis.call('LINDEX', KEYS[i], 0))
  while oldest and oldest <= over do
    redis.call('LPOP', KEYS[i])
    oldest = tonumber(redis.call('LINDEX', KEYS[i], 0))
  end
  return redis.call('LLEN', KEYS[i])
end
local function quotas(admitted)
  local reply = {admitted}
  for i = 1, counters do
    local window, limit = rule(i)
    -- negative where another instance has a higher limit
    local left = limit - used(i)
    local first = tonumber(redis.call('LINDEX', KEYS[i], math.max(0, -left))) or now
    reply[2 * i] = math.max(0, left)
    reply[2 * i + 1] = first + window - now
  end
  return reply
end
if ARGV[2 * counters + 1] then return quotas(0) end
for i = 1, counters do
  local _, limit = rule(i)
  if used(i) >= limit then return quotas(0) end
end
for i = 1, counters do
  redis.call('RPUSH', KEYS[i], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[i], (rule(i)))
end
return quotas(now)
`;

const LIFT = `
local time = redis.call('TIME')
local at = time[1] * 1000 + math.floor(time[2] / 1000) - math.floor(ARGV[1])
if at > tonumber(redis.call('GET', KEYS[1]) or 0) then
  redis.call('SET', KEYS[1], string.format('%.0f', at), 'PX', ARGV[2])
end
`;

const GIVE_BACK = `
for i = 1, #KEYS do redis.call('LREM', KEYS[i], -1, ARGV[1]) end
`;

type Reply = [admittedAt: number, ...quotas: number[]];
type Script<T> = (numberOfKeys: number, ...keysAndArguments: (string | number)[]) => Promise<T>;

interface ScriptedRedis extends Redis {
  admit: Script<Reply>;
  lift: Script<null>;
  giveBack: Script<null>;
}

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
      scripts: { admit: { lua: ADMIT }, lift: { lua: LIFT }, giveBack: { lua: GIVE_BACK } },
    }) as ScriptedRedis;
    this.redis.on('error', (error: Error) => (this.connectionError = error));
    this.redis.on('close', () => (this.connectionError ??= new Error('the connection was closed')));
    this.redis.on('ready', () => (this.connectionError = undefined));
  }

  async admit(counters: readonly Counter[]): Promise<Admission> {
    const { time, quotas } = await this.run(counters);
    return {
      admitted: time > 0,
      quotas,
      giveBack: async (uncounted = counters) =>
        void (await this.redis.giveBack(uncounted.length, ...keysOf(uncounted), time)),
    };
  }

  async look(counters: readonly Counter[]): Promise<Quota[]> {
    return (await this.run(counters, LOOK)).quotas;
  }

  private async run(
    counters: readonly Counter[],
    ...more: string[]
  ): Promise<{ time: number; quotas: Quota[] }> {
    this.requireConnection();
    const rules = counters.flatMap(({ windowMs, limit }) => [windowMs, limit]);
    const keys = keysOf(counters);
    const liftKeys = counters.map(({ liftKey }) => (liftKey ? KEY_PREFIX + liftKey : NO_LIFT_KEY));
    const [time, ...reply] = await this.redis.admit(2 * keys.length, ...keys, ...liftKeys, ...rules, ...more);
    const quotas = counters.map((_, i) => ({ remaining: reply[2 * i]!, resetMs: reply[2 * i + 1]! }));
    return { time, quotas };
  }

  async lift(key: string, { agoMs, windowMs }: Lift): Promise<void> {
    this.requireConnection();
    await this.redis.lift(1, KEY_PREFIX + key, Math.round(agoMs), windowMs);
  }

  /** true while it is not known yet whether and why there is no connection */
  get isConnecting(): boolean {
    return this.redis.status !== 'ready' && this.connectionError === undefined;
  }

  /** Waits for the connection, no longer than an attempt to connect. */
  async connect(): Promise<void> {
    if (this.redis.status !== 'ready')
      await once(this.redis, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
  }

  close(): void {
    this.redis.disconnect();
  }

  private requireConnection(): void {
    if (this.redis.status !== 'ready') throw new Error('not connected', { cause: this.connectionError });
  }
}

/** Logs in, and reads what Redis does when its memory is full. Returns undefined if its user may not read that. */
export async function readEvictionPolicy(
  url: string,
  ca: string | undefined,
  timeoutMs: number,
): Promise<string | undefined> {
  const redis = new Redis(url, {
    ...(ca !== undefined && { tls: { ca } }),
    connectTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let failure: Error | undefined;
  redis.on('error', (error: Error) => (failure ??= error));
  try {
    await redis.connect();
    await redis.ping();
    const memory = await redis.info('memory').catch(() => '');
    return /^maxmemory_policy:(\S+)/m.exec(memory)?.[1];
  } catch (error) {
    throw failure ?? error;
  } finally {
    redis.disconnect();
  }
}

const keysOf = (counters: readonly Counter[]): string[] => counters.map(({ key }) => KEY_PREFIX + key);

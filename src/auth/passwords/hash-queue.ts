import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Env, workersFor } from '../../config/env.js';
import { FairQueue } from '../../database/transactions/fair-queue.js';
import { clientAddress } from '../../http/request-origin.js';
import { clientKey } from '../../rate-limits/rate-limit-store.js';
import { UnavailableError } from '../../problems/problem.js';

/** libuv's thread pool has 4 threads by default: further hashes would only queue inside it. */
const THREAD_POOL_SIZE = 4;
const SAMPLE_MS = 50;

/** Logins alone use a third of the loop's time, other routes at their limit three quarters. */
const SATURATION_THRESHOLD = 0.6;

export class EventLoopMonitor {
  private since: EventLoopUtilization = performance.eventLoopUtilization();
  private sinceTime = performance.now();
  private saturated = false;

  isSaturated(): boolean {
    const time = performance.now();
    if (time - this.sinceTime >= SAMPLE_MS) {
      const now = performance.eventLoopUtilization();
      this.saturated = performance.eventLoopUtilization(now, this.since).utilization >= SATURATION_THRESHOLD;
      this.since = now;
      this.sinceTime = time;
    }
    return this.saturated;
  }
}

export function hashSlots(env: Env): { slots: number; current: () => number } {
  const cores = Math.max(1, Math.floor(availableParallelism() / workersFor(env).workers));
  const slots = Math.min(cores, THREAD_POOL_SIZE);
  // A saturated event loop needs a core for itself.
  const slotsBesideBusyLoop = Math.max(1, Math.min(cores - 1, THREAD_POOL_SIZE));
  const loop = new EventLoopMonitor();
  return { slots, current: () => (loop.isSaturated() ? slotsBesideBusyLoop : slots) };
}

const THREADS = '/proc/self/task';

/** A login flood must not slow other routes. Call this after the first hash; it has no effect outside Linux. */
export function lowerHashThreadPriority(): void {
  try {
    for (const id of readdirSync(THREADS)) {
      const name = readFileSync(`${THREADS}/${id}/comm`, 'utf8').trim();
      if (name === 'libuv-worker') setPriority(Number(id), constants.priority.PRIORITY_LOW);
    }
  } catch {
    return;
  }
}

export interface HashClient {
  key: string;
  /** recognizes a request that is repeated; `key` by default */
  id?: string;
  hasLeft(): boolean;
}

/** One customer usually has a /48 (RFC 6177). */
const SITE_PREFIX = 48;
const MAX_WAIT_MS = 3000;
const MAX_QUEUED_WORK_MS = 2500;
/** The rest is for clients that return. */
const MAX_WORK_BESIDE_PROMISES_MS = 1200;
const MAX_RETRY_AFTER_MS = 30_000;
/** How late a client may return. */
const GRACE_MS = 5000;
/** Returning clients must have their slots even while hashes become slower. */
const RETRY_AFTER_MARGIN = 1.5;
const SMOOTHING_UP = 0.3;
const SMOOTHING_DOWN = 0.05;

export const Client = createParamDecorator((_: unknown, context: ExecutionContext): HashClient =>
  hashClientOf(context.switchToHttp().getRequest()),
);

export function hashClientOf(request: Pick<FastifyRequest, 'ip' | 'socket' | 'body'>): HashClient {
  const key = clientKey(clientAddress(request), SITE_PREFIX);
  // A decorator of a parameter reads the body before it is validated.
  const { email } = (request.body ?? {}) as { email?: unknown };
  return {
    key,
    id: typeof email === 'string' ? `${key} ${email}` : key,
    hasLeft: () => request.socket.destroyed,
  };
}

/** Bounds running and waiting hashes. @param concurrency evaluated before each start; at least 1 */
export class HashQueue {
  private meanDurationMs = 0;
  private readonly queue: FairQueue<HashClient>;
  /** When refused clients may return: who waits for `Retry-After` gets a slot. */
  private readonly promises = new Map<string, number>();
  /** of the latest promise: who is rejected together must not return together */
  private lastDueAt = 0;

  constructor(
    private readonly concurrency: () => number,
    private readonly maxWaiting: number,
  ) {
    const maxSlots = (): number => this.slots();
    const busy = (client: HashClient): UnavailableError => this.refuse(client);
    this.queue = new FairQueue({ maxWaiting: maxSlots, timeoutMs: MAX_WAIT_MS, busy, tooLate: busy });
  }

  get counts(): { running: number; waiting: number } {
    return this.queue.counts;
  }

  /** @throws UnavailableError, before `work` starts, for want of a slot, after too long a wait, or on disconnection */
  async run<T>(client: HashClient, work: () => Promise<T>): Promise<T> {
    const isPromised = this.redeem(client);
    const { running, waiting } = this.counts;
    if (waiting === 0 && running < this.concurrency()) this.queue.addRunning(client.key);
    else await this.queue.wait(client.key, client, isPromised ? 'granted' : 'last');
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.measure(performance.now() - begun);
      this.queue.removeRunning(client.key);
      this.beginNext();
    }
  }

  private slots(): number {
    if (this.meanDurationMs === 0) return this.maxWaiting;
    const workMs = this.promises.size > 0 ? MAX_WORK_BESIDE_PROMISES_MS : MAX_QUEUED_WORK_MS;
    const inTime = Math.floor((workMs * this.concurrency()) / this.meanDurationMs);
    return Math.min(this.maxWaiting, Math.max(1, inTime));
  }

  private measure(durationMs: number): void {
    if (this.meanDurationMs === 0) this.meanDurationMs = durationMs;
    const weight = durationMs > this.meanDurationMs ? SMOOTHING_UP : SMOOTHING_DOWN;
    this.meanDurationMs += weight * (durationMs - this.meanDurationMs);
  }

  private beginNext(): void {
    while (this.counts.running < this.concurrency()) {
      const next = this.queue.takeNext();
      if (!next) return;
      if (next.request.hasLeft()) {
        next.refuse(tooMany(1));
      } else {
        this.queue.addRunning(next.key);
        next.begin();
      }
    }
  }

  private redeem({ key, id = key }: HashClient): boolean {
    const now = performance.now();
    const dueAt = this.promises.get(id) ?? Number.POSITIVE_INFINITY;
    return now >= dueAt && this.promises.delete(id) && now <= dueAt + GRACE_MS;
  }

  private refuse({ key, id = key }: HashClient): UnavailableError {
    const now = Math.ceil(performance.now());
    for (const [expired, dueAt] of this.promises) {
      if (now <= dueAt + GRACE_MS) break;
      this.promises.delete(expired);
    }
    const eachMs = Math.ceil((RETRY_AFTER_MARGIN * this.meanDurationMs) / this.concurrency());
    const nextAt =
      Math.max(now + Math.max(this.counts.waiting * eachMs, 1000 - eachMs), this.lastDueAt) + eachMs;
    const dueAt = this.promises.get(id) ?? nextAt;
    if (dueAt - now < MAX_RETRY_AFTER_MS) {
      this.promises.set(id, dueAt);
      this.lastDueAt = Math.max(this.lastDueAt, dueAt);
    }
    return tooMany(Math.ceil(Math.min(Math.max(dueAt - now, 1), MAX_RETRY_AFTER_MS) / 1000));
  }
}

function tooMany(retryAfterSeconds: number): UnavailableError {
  return new UnavailableError('Too many logins right now. Try again shortly.', retryAfterSeconds);
}

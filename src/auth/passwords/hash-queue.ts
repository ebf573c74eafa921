import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { FairQueue } from '../../database/transactions/fair-queue.js';
import { clientAddress } from '../../http/request-origin.js';
import { clientKey } from '../../rate-limits/rate-limit-keys.js';
import { UnavailableError } from '../../problems/problem.js';

export interface HashClient {
  key: string;
  hasLeft(): boolean;
}

/** A customer usually has a /48 (RFC 6177): counted by /64, one customer could take every place. */
const SITE_PREFIX = 48;

const RETRY_AFTER_SECONDS = 1;

/** Leaves time for the hash itself before the request's deadline. */
const MAX_WAIT_MS = 3000;

/** A login that would wait longer is refused at once rather than after MAX_WAIT_MS. */
const MAX_QUEUED_WORK_MS = 2500;

const SMOOTHING = 0.1;

export const Client = createParamDecorator((_: unknown, context: ExecutionContext): HashClient =>
  hashClientOf(context.switchToHttp().getRequest()),
);

export function hashClientOf(request: Pick<FastifyRequest, 'ip' | 'socket'>): HashClient {
  return {
    key: clientKey(clientAddress(request), SITE_PREFIX),
    hasLeft: () => request.socket.destroyed,
  };
}

/**
 * Bounds the hashes that run and wait, so that a login storm takes neither memory nor the threads of other routes.
 * @param concurrency evaluated before each start; at least 1
 */
export class HashQueue {
  private running = 0;
  private meanDurationMs = 0;
  private readonly queue: FairQueue<HashClient>;

  constructor(
    private readonly concurrency: () => number,
    private readonly maxWaiting: number,
  ) {
    this.queue = new FairQueue({
      maxWaiting: () => this.places(),
      timeoutMs: MAX_WAIT_MS,
      busy,
      tooLate: busy,
    });
  }

  get counts(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.queue.size };
  }

  /** @throws UnavailableError, before `work` starts, for want of a place, after too long a wait, or on disconnection */
  async run<T>(client: HashClient, work: () => Promise<T>): Promise<T> {
    if (this.queue.size === 0 && this.running < this.concurrency()) this.running += 1;
    else await this.queue.wait(client.key, client);
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.measure(performance.now() - begun);
      this.running -= 1;
      this.beginNext();
    }
  }

  private places(): number {
    if (this.meanDurationMs === 0) return this.maxWaiting;
    const inTime = Math.floor((MAX_QUEUED_WORK_MS * this.concurrency()) / this.meanDurationMs);
    return Math.min(this.maxWaiting, Math.max(1, inTime));
  }

  private measure(durationMs: number): void {
    const weight = this.meanDurationMs === 0 ? 1 : SMOOTHING;
    this.meanDurationMs += weight * (durationMs - this.meanDurationMs);
  }

  private beginNext(): void {
    while (this.running < this.concurrency()) {
      const next = this.queue.takeNext();
      if (!next) return;
      if (next.request.hasLeft()) {
        next.refuse(busy());
      } else {
        this.running += 1;
        next.begin();
      }
    }
  }
}

function busy(): UnavailableError {
  return new UnavailableError('Too many logins right now; try again shortly.', RETRY_AFTER_SECONDS);
}

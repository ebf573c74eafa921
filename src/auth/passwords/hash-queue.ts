import { UnavailableError } from '../../problems/problem.js';

const RETRY_AFTER_SECONDS = 1;

/** Leaves time for the hash itself before the request's deadline. */
const MAX_WAIT_MS = 3000;

/** A login that would wait longer is refused at once rather than after MAX_WAIT_MS. */
const MAX_QUEUED_WORK_MS = 2500;

const SMOOTHING = 0.1;

export interface HashClient {
  key: string;
  hasLeft(): boolean;
}

interface Waiter {
  client: HashClient;
  begin(): void;
  refuse(): void;
}

/**
 * Bounds the hashes that run and wait, so that a login storm takes neither memory nor the threads of other routes.
 * Clients are served round-robin. One client alone may fill the queue: its newest requests give way when others come.
 * @param concurrency evaluated before each start; at least 1
 */
export class HashQueue {
  private running = 0;
  private waiting = 0;
  /** in round-robin order, the next client first; no queue is empty */
  private readonly queues = new Map<string, Waiter[]>();
  private meanDurationMs = 0;

  constructor(
    private readonly concurrency: () => number,
    private readonly maxWaiting: number,
  ) {}

  get counts(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting };
  }

  /** @throws UnavailableError, before `work` starts, for want of a place, after too long a wait, or on disconnection */
  async run<T>(client: HashClient, work: () => Promise<T>): Promise<T> {
    await this.enter(client);
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.measure(performance.now() - begun);
      this.running -= 1;
      this.beginNext();
    }
  }

  private enter(client: HashClient): Promise<void> | undefined {
    if (this.waiting === 0 && this.running < this.concurrency()) {
      this.running += 1;
      return undefined;
    }
    const queue = this.queues.get(client.key) ?? [];
    if (this.waiting >= this.places()) this.evictFor(queue.length);
    this.queues.set(client.key, queue);
    this.waiting += 1;
    return this.wait(client, queue);
  }

  private async wait(client: HashClient, queue: Waiter[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter = { client, begin: resolve, refuse: () => reject(busy()) };
    queue.push(waiter);
    const timer = setTimeout(() => this.take(queue, queue.indexOf(waiter)).refuse(), MAX_WAIT_MS);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
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

  /** Evicts the newest request of the client with the most, unless the newcomer would then have more. */
  private evictFor(held: number): void {
    const longest = [...this.queues.values()].reduce((most, queue) =>
      queue.length > most.length ? queue : most,
    );
    if (longest.length <= held + 1) throw busy();
    this.take(longest, longest.length - 1).refuse();
  }

  private beginNext(): void {
    while (this.waiting > 0 && this.running < this.concurrency()) {
      const waiter = this.takeNext();
      if (waiter.client.hasLeft()) {
        waiter.refuse();
      } else {
        this.running += 1;
        waiter.begin();
      }
    }
  }

  private takeNext(): Waiter {
    const [key, queue] = this.queues.entries().next().value!;
    const waiter = this.take(queue, 0);
    if (queue.length > 0) {
      this.queues.delete(key);
      this.queues.set(key, queue);
    }
    return waiter;
  }

  private take(queue: Waiter[], index: number): Waiter {
    const [waiter] = queue.splice(index, 1) as [Waiter];
    if (queue.length === 0) this.queues.delete(waiter.client.key);
    this.waiting -= 1;
    return waiter;
  }
}

function busy(): UnavailableError {
  return new UnavailableError('Too many logins right now; try again shortly.', RETRY_AFTER_SECONDS);
}

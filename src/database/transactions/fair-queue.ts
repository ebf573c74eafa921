interface Waiter<Request> {
  key: string;
  request: Request;
  begin: () => void;
  refuse: (error: Error) => void;
}

interface Limits {
  maxWaiting: () => number;
  timeoutMs: number;
  busy: () => Error;
  tooLate: () => Error;
}

/** Serves its keys round-robin. If one key fills the queue, other keys evict the newest requests of that key. */
export class FairQueue<Request> {
  private waiting = 0;
  private readonly queues = new Map<string, Waiter<Request>[]>();

  constructor(private readonly limits: Limits) {}

  get size(): number {
    return this.waiting;
  }

  async wait(key: string, request: Request, place: 'first' | 'last' = 'last'): Promise<void> {
    const { maxWaiting, timeoutMs, tooLate } = this.limits;
    const queue = this.queues.get(key) ?? [];
    if (this.waiting >= maxWaiting()) this.evictFor(queue.length);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter<Request> = { key, request, begin: resolve, refuse: reject };
    if (place === 'last') queue.push(waiter);
    else queue.unshift(waiter);
    this.queues.set(key, queue);
    this.waiting += 1;
    const timer = setTimeout(() => this.take(queue, queue.indexOf(waiter)).refuse(tooLate()), timeoutMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  takeNext(canBegin: (request: Request) => boolean = () => true): Waiter<Request> | undefined {
    for (const [key, queue] of this.queues) {
      const index = queue.findIndex(({ request }) => canBegin(request));
      if (index < 0) continue;
      const waiter = this.take(queue, index);
      if (queue.length > 0) {
        this.queues.delete(key);
        this.queues.set(key, queue);
      }
      return waiter;
    }
    return undefined;
  }

  private evictFor(held: number): void {
    const longest = [...this.queues.values()].reduce((most, queue) =>
      queue.length > most.length ? queue : most,
    );
    if (longest.length <= held + 1) throw this.limits.busy();
    this.take(longest, longest.length - 1).refuse(this.limits.busy());
  }

  private take(queue: Waiter<Request>[], index: number): Waiter<Request> {
    const [waiter] = queue.splice(index, 1) as [Waiter<Request>];
    if (queue.length === 0) this.queues.delete(waiter.key);
    this.waiting -= 1;
    return waiter;
  }
}

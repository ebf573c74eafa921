interface Waiter<Request> {
  key: string;
  request: Request;
  isGranted: boolean;
  begin: () => void;
  refuse: (error: Error) => void;
}

interface Limits<Request> {
  maxWaiting: () => number;
  timeoutMs: number;
  busy: (request: Request) => Error;
  tooLate: (request: Request) => Error;
}

/** Serves its keys round-robin. If the queue is full, the key with the most work, running or waiting, gives way. */
export class FairQueue<Request> {
  private waiting = 0;
  private running = 0;
  private readonly runningByKey = new Map<string, number>();
  private readonly queues = new Map<string, Waiter<Request>[]>();

  constructor(private readonly limits: Limits<Request>) {}

  get counts(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting };
  }

  runningOf(key: string): number {
    return this.runningByKey.get(key) ?? 0;
  }

  addRunning(key: string): void {
    this.running += 1;
    this.runningByKey.set(key, this.runningOf(key) + 1);
  }

  removeRunning(key: string): void {
    this.running -= 1;
    const left = this.runningOf(key) - 1;
    if (left === 0) this.runningByKey.delete(key);
    else this.runningByKey.set(key, left);
  }

  /** @param position `granted`: before what is not granted of the same key, even if the queue is full */
  async wait(
    key: string,
    request: Request,
    position: 'first' | 'last' | 'granted' = 'last',
    timeoutMs = this.limits.timeoutMs,
  ): Promise<void> {
    const { maxWaiting, tooLate } = this.limits;
    const queue = this.queues.get(key) ?? [];
    const isGranted = position === 'granted';
    if (!isGranted && this.waiting >= maxWaiting()) this.evictFor(key, request);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter: Waiter<Request> = { key, request, isGranted, begin: resolve, refuse: reject };
    if (position === 'first') queue.unshift(waiter);
    else if (isGranted) queue.splice(queue.findLastIndex((each) => each.isGranted) + 1, 0, waiter);
    else queue.push(waiter);
    this.queues.set(key, queue);
    this.waiting += 1;
    const refuse = (): void => this.take(queue, queue.indexOf(waiter)).refuse(tooLate(request));
    const timer = timeoutMs < Infinity ? setTimeout(refuse, timeoutMs) : undefined;
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  takeNext(canBegin: (request: Request, key: string) => boolean = () => true): Waiter<Request> | undefined {
    for (const [key, queue] of this.queues) {
      const index = queue.findIndex(({ request }) => canBegin(request, key));
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

  /** Evicts the newest request of the key with the most work, unless the newcomer's key would then have more. */
  private evictFor(newcomer: string, request: Request): void {
    const held = this.runningOf(newcomer) + (this.queues.get(newcomer)?.length ?? 0);
    let most = held + 1;
    let longest: Waiter<Request>[] = [];
    for (const [key, queue] of this.queues) {
      const work = this.runningOf(key) + queue.length;
      if (work > most && queue.some(({ isGranted }) => !isGranted)) [most, longest] = [work, queue];
    }
    const index = longest.findLastIndex(({ isGranted }) => !isGranted);
    if (index < 0) throw this.limits.busy(request);
    const evicted = this.take(longest, index);
    evicted.refuse(this.limits.busy(evicted.request));
  }

  private take(queue: Waiter<Request>[], index: number): Waiter<Request> {
    const [waiter] = queue.splice(index, 1) as [Waiter<Request>];
    if (queue.length === 0) this.queues.delete(waiter.key);
    this.waiting -= 1;
    return waiter;
  }
}

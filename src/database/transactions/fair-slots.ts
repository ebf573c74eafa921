import { FairQueue } from './fair-queue.js';

interface SlotLimits {
  max: number;
  /** below `max`, so that the work of another key begins at once while one key has much that is slow */
  maxOfKey: number;
  maxWaiting: number;
  maxWaitMs: number;
  /** the error of work that gets no slot */
  refuse: () => Error;
}

/** Bounds work that runs at once. Work that hangs keeps its slot, so that no more than `max` ever hangs. */
export class FairSlots {
  private readonly queue: FairQueue<void>;

  constructor(private readonly limits: SlotLimits) {
    const { maxWaiting, maxWaitMs, refuse } = limits;
    this.queue = new FairQueue({
      maxWaiting: () => maxWaiting,
      timeoutMs: maxWaitMs,
      busy: refuse,
      tooLate: refuse,
    });
  }

  /** @throws what `refuse` returns, before `work` starts */
  async run<T>(
    key: string,
    work: () => Promise<T>,
    position: 'first' | 'last' = 'last',
    maxWaitMs?: number,
  ): Promise<T> {
    if (this.queue.counts.running < this.limits.max && this.mayRun(key)) this.queue.addRunning(key);
    else await this.queue.wait(key, undefined, position, maxWaitMs);
    try {
      return await work();
    } finally {
      this.queue.removeRunning(key);
      const next = this.queue.takeNext((_, waiting) => this.mayRun(waiting));
      if (next) this.queue.addRunning(next.key);
      next?.begin();
    }
  }

  private mayRun(key: string): boolean {
    return this.queue.runningOf(key) < this.limits.maxOfKey;
  }
}

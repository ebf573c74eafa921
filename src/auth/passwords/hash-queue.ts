import { UnavailableError } from '../../problems/problem.js';

const RETRY_AFTER_SECONDS = 1;

/** Whoever waited longer is about to be answered that it took too long: hashing for him helps nobody. */
const LONGEST_WAIT_MS = 3000;

/**
 * Runs at most `concurrency()` pieces of work at once, first come first served, and lets at most `maxWaiting`
 * more wait: a login storm then costs neither memory nor the threads that other routes need. `concurrency` is
 * asked each time a piece may begin, and must never be less than 1.
 */
export class HashQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly concurrency: () => number,
    private readonly maxWaiting: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Settles as `work` does; rejects with `UnavailableError` at once when the line is full, or when the wait was too long. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.waiting.length === 0 && this.running < this.concurrency()) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= this.maxWaiting) throw busy();
    const since = this.now();
    await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (this.now() - since <= LONGEST_WAIT_MS) return;
    this.leave();
    throw busy();
  }

  private leave(): void {
    this.running -= 1;
    while (this.waiting.length > 0 && this.running < this.concurrency()) {
      this.running += 1;
      this.waiting.shift()!();
    }
  }
}

function busy(): UnavailableError {
  return new UnavailableError('Too many logins at this moment; try again shortly.', RETRY_AFTER_SECONDS);
}

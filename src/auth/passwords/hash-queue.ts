import { UnavailableError } from '../../problems/problem.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Runs at most `concurrency` pieces of work at once, first come first served, and lets at most `maxWaiting`
 * more wait: a login storm then costs neither memory nor the threads that other routes need.
 */
export class HashQueue {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly concurrency: number,
    private readonly maxWaiting: number,
  ) {}

  /** Settles as `work` does; rejects at once with `UnavailableError` when the line is full. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.enter();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.running < this.concurrency) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= this.maxWaiting) {
      throw new UnavailableError('Too many logins at this moment; try again shortly.', RETRY_AFTER_SECONDS);
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Hands the slot to the next in line instead of freeing it, so that no newcomer overtakes. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running -= 1;
  }
}

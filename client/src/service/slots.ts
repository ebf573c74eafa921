import { Unavailable } from './unavailable.ts';

/** Bounds how much work runs at once. Further work waits for a free slot in order of arrival. */
export class Slots {
  private readonly waiting: (() => void)[] = [];
  private readonly atOnce: number;
  private readonly mostWaiting: number;
  private running = 0;

  constructor(atOnce: number, mostWaiting: number) {
    this.atOnce = atOnce;
    this.mostWaiting = mostWaiting;
  }

  get isIdle(): boolean {
    return this.running === 0;
  }

  /** @throws Unavailable if too much work is waiting */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.take();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private async take(): Promise<void> {
    if (this.running < this.atOnce) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= this.mostWaiting) throw new Unavailable('too many requests wait for Accounts');
    await new Promise<void>((given) => this.waiting.push(given));
  }

  /** Gives the slot to the first waiter, so that work that arrives now cannot take it. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running -= 1;
  }
}

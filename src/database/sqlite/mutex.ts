import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError } from '../acquire-timeout.js';

type Leave = () => void;

/** First come, first served: one holder at a time. */
export class Mutex {
  private held = false;
  /** each lets one in */
  private readonly waiting = new Set<() => void>();

  /** Whether it is not held, and so nobody waits for it. */
  get isFree(): boolean {
    return !this.held;
  }

  /** @throws an error with code POOL_ACQUIRE_TIMEOUT to whoever waited too long */
  enter(): Promise<Leave> {
    if (this.held) return this.wait();
    this.held = true;
    return Promise.resolve(this.leave);
  }

  private wait(): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve(this.leave);
      };
      const timer = setTimeout(() => {
        this.waiting.delete(admit);
        reject(acquireTimeoutError());
      }, ACQUIRE_TIMEOUT_MS);
      this.waiting.add(admit);
    });
  }

  private readonly leave = (): void => {
    const [next] = this.waiting;
    this.held = next !== undefined;
    if (next === undefined) return;
    this.waiting.delete(next);
    next();
  };
}

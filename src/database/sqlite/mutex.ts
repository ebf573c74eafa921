import { ACQUIRE_TIMEOUT_MS, acquireTimeoutError } from '../transactions/connections.js';

type Leave = () => void;

export class Mutex {
  private held = false;
  private readonly waiting = new Set<() => void>();

  get isFree(): boolean {
    return !this.held;
  }

  /** @throws an error with code POOL_ACQUIRE_TIMEOUT */
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

/** A longer delay overflows the timer, which then fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time limit of a whole call, and the signal that ends the call earlier. */
export class Budget {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  private readonly begunAt = performance.now();

  constructor(timeoutMs: number, signal?: AbortSignal) {
    this.timeoutMs = Math.min(timeoutMs, LONGEST_TIMER_MS);
    this.signal = signal;
  }

  get spentMs(): number {
    return performance.now() - this.begunAt;
  }

  get leftMs(): number {
    return Math.max(0, this.timeoutMs - this.spentMs);
  }
}

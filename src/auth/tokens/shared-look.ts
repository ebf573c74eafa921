const PERIOD_MS = 1000;
/** Beyond this, strangers flood the service with keys of their own: further callers are not kept waiting. */
const MAX_WAITING = 1000;

// All who ask share a look, and there is one a second at most. Each look begins after the question that it answers, so
// that a flood of questions hides nothing from those who come later.
export class SharedLook {
  private next: Promise<void> | undefined;
  private waiting = 0;
  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly look: () => Promise<void>) {}

  async ask(): Promise<void> {
    if (this.waiting >= MAX_WAITING) return;
    this.waiting += 1;
    this.next ??= this.untilAllowed().then(() => this.begin());
    await this.next.finally(() => (this.waiting -= 1));
  }

  private async untilAllowed(): Promise<void> {
    const pauseMs = this.lookedAt + PERIOD_MS - performance.now();
    if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs).unref());
  }

  private begin(): Promise<void> {
    this.next = undefined;
    this.lookedAt = performance.now();
    return this.look();
  }
}

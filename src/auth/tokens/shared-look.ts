/** A file system that hangs keeps this number of callers waiting. Further callers get no look. */
const MAX_WAITING = 1000;

// There is one look at a time. Each look begins after the question that it answers, and all callers who asked before it
// share it, so that a flood of questions costs no more than one look after the other.
export class SharedLook {
  private current: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private waiting = 0;

  /** @param look must not reject */
  constructor(private readonly look: () => Promise<void>) {}

  async ask(): Promise<void> {
    if (this.waiting >= MAX_WAITING) return;
    this.waiting += 1;
    this.next ??= this.lookAfterCurrent();
    await this.next.finally(() => (this.waiting -= 1));
  }

  private async lookAfterCurrent(): Promise<void> {
    await this.current;
    this.next = undefined;
    this.current = this.look();
    await this.current;
  }
}

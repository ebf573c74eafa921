export const RECENCY_BYTES_PER_SLOT = 8;

/** Orders slots by when they were last touched, in a doubly linked ring closed by slot 0. */
export class RecencyList {
  private readonly older: Uint32Array;
  private readonly newer: Uint32Array;

  constructor(capacity: number) {
    this.older = new Uint32Array(capacity + 1);
    this.newer = new Uint32Array(capacity + 1);
  }

  get oldest(): number {
    return this.newer[0]!;
  }

  add(slot: number): void {
    this.link(this.older[0]!, slot);
    this.link(slot, 0);
  }

  remove(slot: number): void {
    this.link(this.older[slot]!, this.newer[slot]!);
  }

  private link(older: number, newer: number): void {
    this.newer[older] = newer;
    this.older[newer] = older;
  }
}

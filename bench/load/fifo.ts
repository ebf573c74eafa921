/** First in, first out; taking is cheap however many wait, which Array.shift is not. */
export class Fifo<T> {
  private items: (T | undefined)[];
  private taken = 0;

  constructor(items: T[] = []) {
    this.items = items;
  }

  add(item: T): void {
    this.items.push(item);
  }

  /** Forgets the oldest, so that no more are left. */
  keepLast(count: number): void {
    while (this.items.length - this.taken > count) this.take();
  }

  take(): T | undefined {
    const item = this.items[this.taken];
    if (item === undefined) return undefined;
    this.items[this.taken] = undefined;
    this.taken += 1;
    if (this.taken > 10_000) {
      this.items = this.items.slice(this.taken);
      this.taken = 0;
    }
    return item;
  }
}

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }
}

/** The seed of this run: from `SEED`, to repeat one, or a new one; printed, so that it can be repeated. */
export function seedOfRun(what: string): number {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000);
  console.info(`${what}: SEED=${seed}`);
  return seed;
}

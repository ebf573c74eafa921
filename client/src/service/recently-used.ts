interface Entry<Value> {
  value: Value;
  /** The number of sets before its last use. */
  usedAt: number;
}

/** A map of bounded weight, which drops the least recently used values. */
export class RecentlyUsed<Value> {
  private readonly entries = new Map<string, Entry<Value>>();
  private readonly limit: number;
  private readonly weightOf: (value: Value) => number;
  private weight = 0;
  private sets = 0;

  constructor(limit: number, weightOf: (value: Value) => number = () => 1) {
    this.limit = limit;
    this.weightOf = weightOf;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    // Only a set drops values, so a value moves to the end once in many sets and not at each use.
    if (this.sets - entry.usedAt > this.entries.size / 8) {
      entry.usedAt = this.sets;
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry.value;
  }

  /** Keeps the value even if it alone exceeds the limit. */
  set(key: string, value: Value): void {
    this.delete(key);
    this.sets += 1;
    this.entries.set(key, { value, usedAt: this.sets });
    this.weight += this.weightOf(value);
    for (const oldest of this.entries.keys()) {
      if (this.weight <= this.limit || oldest === key) return;
      this.delete(oldest);
    }
  }

  /** To change the weight of a value, set it again. */
  delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.weight -= this.weightOf(entry.value);
  }

  clear(): void {
    this.entries.clear();
    this.weight = 0;
  }
}

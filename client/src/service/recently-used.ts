/** A map of bounded weight, which forgets what was not used for the longest time. */
export class RecentlyUsed<Value> {
  private readonly values = new Map<string, Value>();
  private readonly limit: number;
  private readonly weightOf: (value: Value) => number;
  private weight = 0;

  constructor(limit: number, weightOf: (value: Value) => number = () => 1) {
    this.limit = limit;
    this.weightOf = weightOf;
  }

  get size(): number {
    return this.values.size;
  }

  get(key: string): Value | undefined {
    const value = this.values.get(key);
    if (value === undefined) return undefined;
    this.values.delete(key);
    this.values.set(key, value);
    return value;
  }

  /** Keeps the value even where it alone is too heavy. */
  set(key: string, value: Value): void {
    this.delete(key);
    this.values.set(key, value);
    this.weight += this.weightOf(value);
    for (const oldest of this.values.keys()) {
      if (this.weight <= this.limit || oldest === key) return;
      this.delete(oldest);
    }
  }

  /** A value that changes its weight is set again. */
  delete(key: string): void {
    const value = this.values.get(key);
    if (value === undefined) return;
    this.values.delete(key);
    this.weight -= this.weightOf(value);
  }

  clear(): void {
    this.values.clear();
    this.weight = 0;
  }
}

export const logBytesPerSlot = (length: number): number => length * 8 + 2;

interface Expiry {
  now: number;
  age: number;
  lifted?: number | undefined;
}

/** Keeps the times of each slot's admitted requests, oldest first, at most `length` of each. */
export class AdmissionLog {
  private readonly times: Float64Array;
  private readonly counts: Uint16Array;

  constructor(
    capacity: number,
    private readonly length: number,
  ) {
    this.times = new Float64Array((capacity + 1) * length);
    this.counts = new Uint16Array(capacity + 1);
  }

  count(slot: number): number {
    return this.counts[slot]!;
  }

  /** The slot must not be empty. */
  oldest(slot: number): number {
    return this.times[slot * this.length]!;
  }

  newest(slot: number): number {
    return this.times[slot * this.length + this.count(slot) - 1]!;
  }

  append(slot: number, time: number): void {
    this.times[slot * this.length + this.count(slot)] = time;
    this.counts[slot]! += 1;
  }

  /** Deletes what was admitted an `age` ago, or until `lifted`. */
  expire(slot: number, { now, age, lifted = Number.NEGATIVE_INFINITY }: Expiry): void {
    const isOver = (time: number): boolean => now - time >= age || time <= lifted;
    const begin = slot * this.length;
    let expired = 0;
    while (expired < this.count(slot) && isOver(this.times[begin + expired]!)) expired += 1;
    this.delete(slot, 0, expired);
  }

  remove(slot: number, time: number): void {
    const begin = slot * this.length;
    let nth = this.count(slot) - 1;
    while (nth >= 0 && this.times[begin + nth] !== time) nth -= 1;
    if (nth >= 0) this.delete(slot, nth, 1);
  }

  clear(slot: number): void {
    this.counts[slot] = 0;
  }

  private delete(slot: number, nth: number, deleted: number): void {
    if (deleted === 0) return;
    const begin = slot * this.length + nth;
    this.times.copyWithin(begin, begin + deleted, slot * this.length + this.count(slot));
    this.counts[slot]! -= deleted;
  }
}

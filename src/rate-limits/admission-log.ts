import { ChunkedArray } from './chunked-array.js';

/** Bytes for each slot of a log with rings of `length` times. */
export const logBytesPerSlot = (length: number): number => length * 8 + 8;

/** The times of the admitted requests of each slot, oldest first: rings of `length` times. */
export class AdmissionLog {
  private readonly times = new ChunkedArray(Float64Array);
  private readonly starts = new ChunkedArray(Uint32Array);
  private readonly counts = new ChunkedArray(Uint32Array);

  constructor(private readonly length: number) {}

  count(slot: number): number {
    return this.counts.get(slot);
  }

  /** The first of a slot with at least one time. */
  oldest(slot: number): number {
    return this.time(slot, 0);
  }

  /** The last of a slot with at least one time. */
  newest(slot: number): number {
    return this.time(slot, this.count(slot) - 1);
  }

  /** To a slot with fewer times than `length`. */
  append(slot: number, time: number): void {
    const count = this.count(slot);
    this.times.set(this.position(slot, count), time);
    this.counts.set(slot, count + 1);
  }

  /** Forgets the times that are `age` or older at `now`. */
  expire(slot: number, now: number, age: number): void {
    let dropped = 0;
    const count = this.count(slot);
    while (dropped < count && now - this.time(slot, dropped) >= age) dropped++;
    this.starts.set(slot, (this.starts.get(slot) + dropped) % this.length);
    this.counts.set(slot, count - dropped);
  }

  clear(slot: number): void {
    this.counts.set(slot, 0);
  }

  private time(slot: number, nth: number): number {
    return this.times.get(this.position(slot, nth));
  }

  private position(slot: number, nth: number): number {
    return slot * this.length + ((this.starts.get(slot) + nth) % this.length);
  }
}

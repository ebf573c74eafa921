import { ChunkedArray } from './chunked-array.js';

/** Bytes for each slot: two links. */
export const RECENCY_BYTES_PER_SLOT = 8;

/** Orders slots (1 and up) by when they were last touched: a doubly linked list, a ring closed by slot 0. */
export class RecencyList {
  private readonly older = new ChunkedArray(Uint32Array);
  private readonly newer = new ChunkedArray(Uint32Array);

  /** The slot touched longest ago; 0 when the list is empty. */
  get oldest(): number {
    return this.newer.get(0);
  }

  add(slot: number): void {
    const newest = this.older.get(0);
    this.link(newest, slot);
    this.link(slot, 0);
  }

  remove(slot: number): void {
    this.link(this.older.get(slot), this.newer.get(slot));
  }

  private link(older: number, newer: number): void {
    this.newer.set(older, newer);
    this.older.set(newer, older);
  }
}

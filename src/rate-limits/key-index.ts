import { randomFillSync } from 'node:crypto';
import { ChunkedArray } from './chunked-array.js';
import { KEY_BYTES, KEY_LENGTH } from './rate-limit-key.js';

const WORDS = KEY_BYTES / Uint32Array.BYTES_PER_ELEMENT;

/** Bytes for each slot: the key, its link and at most two bucket heads. */
export const INDEX_BYTES_PER_SLOT = KEY_BYTES + 12;

/**
 * Finds the slot of a key: a hash table with chains, in typed arrays. Slots are 1 to `capacity`, 0 is none.
 *
 * A `Map` of as many strings would take twice the memory and stop the process while it rehashes; this table
 * has its final number of buckets from the start.
 */
export class KeyIndex {
  private readonly heads: Uint32Array;
  private readonly keys = new ChunkedArray(Uint32Array);
  /** the next slot of the same bucket or, for a free slot, the next free one */
  private readonly links = new ChunkedArray(Uint32Array);
  private readonly multipliers = randomFillSync(new Uint32Array(WORDS));
  private readonly key = new Uint32Array(WORDS);
  private readonly keyBytes = Buffer.from(this.key.buffer);
  private readonly shift: number;
  private used = 0;
  private free = 0;

  constructor(private readonly capacity: number) {
    const bits = Math.max(1, Math.ceil(Math.log2(capacity)));
    this.heads = new Uint32Array(2 ** bits);
    this.shift = 32 - bits;
  }

  find(key: string): number {
    this.load(key);
    let slot = this.heads[this.bucketOf(this.key)]!;
    while (slot !== 0 && !this.holds(slot)) slot = this.links.get(slot);
    return slot;
  }

  get full(): boolean {
    return this.free === 0 && this.used === this.capacity;
  }

  /** Takes a slot for a key that has none; the index must not be full. */
  insert(key: string): number {
    this.load(key);
    const slot = this.takeFreeSlot();
    const bucket = this.bucketOf(this.key);
    this.key.forEach((word, i) => this.keys.set(slot * WORDS + i, word));
    this.links.set(slot, this.heads[bucket]!);
    this.heads[bucket] = slot;
    return slot;
  }

  remove(slot: number): void {
    const bucket = this.bucketOf(this.key.map((_, i) => this.keys.get(slot * WORDS + i)));
    const next = this.links.get(slot);
    if (this.heads[bucket] === slot) {
      this.heads[bucket] = next;
    } else {
      let previous = this.heads[bucket]!;
      while (this.links.get(previous) !== slot) previous = this.links.get(previous);
      this.links.set(previous, next);
    }
    this.links.set(slot, this.free);
    this.free = slot;
  }

  private takeFreeSlot(): number {
    if (this.free === 0) return ++this.used;
    const slot = this.free;
    this.free = this.links.get(slot);
    return slot;
  }

  private load(key: string): void {
    const written = this.keyBytes.write(key, 'base64url');
    if (key.length !== KEY_LENGTH || written !== KEY_BYTES) throw new RangeError('not a key of rateLimitKey');
  }

  private holds(slot: number): boolean {
    return this.key.every((word, i) => this.keys.get(slot * WORDS + i) === word);
  }

  /** Secret multipliers keep a client from choosing e-mails whose keys share one bucket. */
  private bucketOf(key: Uint32Array): number {
    const sum = key.reduce((total, word, i) => (total + Math.imul(word, this.multipliers[i]!)) | 0, 0);
    return sum >>> this.shift;
  }
}

import { randomFillSync } from 'node:crypto';
import { KEY_BYTES, KEY_LENGTH } from './rate-limit-key.js';

const WORDS_PER_KEY = KEY_BYTES / Uint32Array.BYTES_PER_ELEMENT;

/** the key, its link and at most one bucket head */
export const INDEX_BYTES_PER_SLOT = KEY_BYTES + 8;

// A hash table with chains. Typed arrays take half the memory of a `Map` of strings, without its pauses to rehash and
// to be traced by the garbage collector; the system allocates their pages on the first write.
export class KeyIndex {
  private readonly heads: Uint32Array;
  private readonly keys: Uint32Array;
  /** the next slot of the same bucket or, for a free slot, the next free one */
  private readonly links: Uint32Array;
  private readonly multipliers = randomFillSync(new Uint32Array(WORDS_PER_KEY));
  private readonly key = new Uint32Array(WORDS_PER_KEY);
  private readonly keyBytes = Buffer.from(this.key.buffer);
  private readonly shift: number;
  private used = 0;
  private free = 0;

  constructor(private readonly capacity: number) {
    const bits = Math.max(1, Math.floor(Math.log2(capacity)));
    this.heads = new Uint32Array(2 ** bits);
    this.keys = new Uint32Array((capacity + 1) * WORDS_PER_KEY);
    this.links = new Uint32Array(capacity + 1);
    this.shift = 32 - bits;
  }

  find(key: string): number {
    this.load(key);
    let slot = this.heads[this.bucketOf(this.key)]!;
    while (slot !== 0 && !this.holds(slot)) slot = this.links[slot]!;
    return slot;
  }

  get full(): boolean {
    return this.free === 0 && this.used === this.capacity;
  }

  /** The key must be new and the index not full. */
  insert(key: string): number {
    this.load(key);
    const slot = this.takeFreeSlot();
    const bucket = this.bucketOf(this.key);
    this.keys.set(this.key, slot * WORDS_PER_KEY);
    this.links[slot] = this.heads[bucket]!;
    this.heads[bucket] = slot;
    return slot;
  }

  remove(slot: number): void {
    const bucket = this.bucketOf(this.keys.subarray(slot * WORDS_PER_KEY, (slot + 1) * WORDS_PER_KEY));
    const next = this.links[slot]!;
    if (this.heads[bucket] === slot) {
      this.heads[bucket] = next;
    } else {
      let previous = this.heads[bucket]!;
      while (this.links[previous] !== slot) previous = this.links[previous]!;
      this.links[previous] = next;
    }
    this.links[slot] = this.free;
    this.free = slot;
  }

  private takeFreeSlot(): number {
    if (this.free === 0) return ++this.used;
    const slot = this.free;
    this.free = this.links[slot]!;
    return slot;
  }

  private load(key: string): void {
    const written = this.keyBytes.write(key, 'base64url');
    if (key.length !== KEY_LENGTH || written !== KEY_BYTES) throw new RangeError('not a key of rateLimitKey');
  }

  private holds(slot: number): boolean {
    return this.key.every((word, i) => this.keys[slot * WORDS_PER_KEY + i] === word);
  }

  /** Uses secret multipliers, so that clients cannot choose emails whose keys share a bucket. */
  private bucketOf(key: Uint32Array): number {
    const sum = key.reduce((total, word, i) => (total + Math.imul(word, this.multipliers[i]!)) | 0, 0);
    return sum >>> this.shift;
  }
}

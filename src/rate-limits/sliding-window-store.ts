import { randomFillSync } from 'node:crypto';
import type { RateLimit } from '../config/readers.js';
import {
  type Admission,
  type Counter,
  KEY_BYTES,
  KEY_LENGTH,
  type Lift,
  type Quota,
  type RateLimitStore,
} from './rate-limit-store.js';

const MAX_BYTES = 96 * 2 ** 20;
const BYTES_PER_SLOT = 2 + KEY_BYTES + 8 + 8;

/** Allows 880,000 keys for 10 requests each. At the default cost four threads hash 330,000 passwords in 15 minutes. */
export function keyCapacity(limit: number): number {
  return Math.floor(MAX_BYTES / (limit * Float64Array.BYTES_PER_ELEMENT + BYTES_PER_SLOT));
}

/** A new key takes the slot of the key admitted longest ago if that key has expired or no slot is left. */
class SlidingWindow {
  private readonly index: KeyIndex;
  private readonly recency: RecencyList;
  private readonly times: Float64Array;
  private readonly counts: Uint16Array;
  private used = 0;

  constructor(
    private readonly rule: RateLimit,
    private readonly capacity = keyCapacity(rule.limit),
  ) {
    this.index = new KeyIndex(capacity);
    this.recency = new RecencyList(capacity);
    this.times = new Float64Array((capacity + 1) * rule.limit);
    this.counts = new Uint16Array(capacity + 1);
  }

  quota(key: string, now: number, lifted?: number): Quota {
    const slot = this.index.find(key);
    if (slot !== 0) this.expire(slot, now, lifted);
    return this.quotaOf(slot, now);
  }

  add(key: string, now: number): Quota {
    const slot = this.index.find(key) || this.takeSlot(key, now);
    this.recency.remove(slot);
    this.recency.add(slot);
    this.times[slot * this.rule.limit + this.counts[slot]!] = now;
    this.counts[slot]! += 1;
    return this.quotaOf(slot, now);
  }

  remove(key: string, time: number): void {
    const slot = this.index.find(key);
    if (slot === 0) return;
    const begin = slot * this.rule.limit;
    let nth = this.counts[slot]! - 1;
    while (nth >= 0 && this.times[begin + nth] !== time) nth -= 1;
    if (nth >= 0) this.deleteTimes(slot, nth, 1);
    if (this.counts[slot]! > 0) return;
    this.recency.remove(slot);
    this.recency.add(slot, this.recency.oldest);
  }

  private quotaOf(slot: number, now: number): Quota {
    const { limit, windowMs } = this.rule;
    const used = this.counts[slot]!;
    const resetMs = used === 0 ? windowMs : windowMs - (now - this.times[slot * limit]!);
    return { remaining: limit - used, resetMs };
  }

  private takeSlot(key: string, now: number): number {
    let slot = this.recency.oldest;
    if (slot !== 0) this.expire(slot, now);
    if (slot !== 0 && (this.counts[slot] === 0 || this.used === this.capacity)) {
      this.index.remove(slot);
      this.counts[slot] = 0;
    } else {
      slot = this.used += 1;
      this.recency.add(slot);
    }
    this.index.insert(key, slot);
    return slot;
  }

  private expire(slot: number, now: number, lifted = Number.NEGATIVE_INFINITY): void {
    const { limit, windowMs } = this.rule;
    const isOver = (time: number): boolean => now - time >= windowMs || time <= lifted;
    let expired = 0;
    while (expired < this.counts[slot]! && isOver(this.times[slot * limit + expired]!)) expired += 1;
    if (expired > 0) this.deleteTimes(slot, 0, expired);
  }

  private deleteTimes(slot: number, nth: number, deleted: number): void {
    const begin = slot * this.rule.limit;
    this.times.copyWithin(begin + nth, begin + nth + deleted, begin + this.counts[slot]!);
    this.counts[slot]! -= deleted;
  }
}

const WORDS_PER_KEY = KEY_BYTES / Uint32Array.BYTES_PER_ELEMENT;

/** A hash table with chains: typed arrays need half the memory of a `Map` of strings, without its pauses. */
class KeyIndex {
  private readonly heads: Uint32Array;
  private readonly keys: Uint32Array;
  private readonly nextInBucket: Uint32Array;
  private readonly multipliers = randomFillSync(new Uint32Array(WORDS_PER_KEY));
  private readonly key = new Uint32Array(WORDS_PER_KEY);
  private readonly keyBytes = Buffer.from(this.key.buffer);
  private readonly shift: number;

  constructor(capacity: number) {
    const bits = Math.max(1, Math.floor(Math.log2(capacity)));
    this.heads = new Uint32Array(2 ** bits);
    this.keys = new Uint32Array((capacity + 1) * WORDS_PER_KEY);
    this.nextInBucket = new Uint32Array(capacity + 1);
    this.shift = 32 - bits;
  }

  find(key: string): number {
    this.load(key);
    let slot = this.heads[this.bucketOf(this.key)]!;
    while (slot !== 0 && !this.holds(slot)) slot = this.nextInBucket[slot]!;
    return slot;
  }

  insert(key: string, slot: number): void {
    this.load(key);
    const bucket = this.bucketOf(this.key);
    this.keys.set(this.key, slot * WORDS_PER_KEY);
    this.nextInBucket[slot] = this.heads[bucket]!;
    this.heads[bucket] = slot;
  }

  remove(slot: number): void {
    const bucket = this.bucketOf(this.keys.subarray(slot * WORDS_PER_KEY, (slot + 1) * WORDS_PER_KEY));
    const next = this.nextInBucket[slot]!;
    if (this.heads[bucket] === slot) {
      this.heads[bucket] = next;
    } else {
      let previous = this.heads[bucket]!;
      while (this.nextInBucket[previous] !== slot) previous = this.nextInBucket[previous]!;
      this.nextInBucket[previous] = next;
    }
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

/** Orders slots by their last use, in a doubly linked ring closed by slot 0. */
class RecencyList {
  private readonly older: Uint32Array;
  private readonly newer: Uint32Array;

  constructor(capacity: number) {
    this.older = new Uint32Array(capacity + 1);
    this.newer = new Uint32Array(capacity + 1);
  }

  get oldest(): number {
    return this.newer[0]!;
  }

  add(slot: number, newer = 0): void {
    this.link(this.older[newer]!, slot);
    this.link(slot, newer);
  }

  remove(slot: number): void {
    this.link(this.older[slot]!, this.newer[slot]!);
  }

  private link(older: number, newer: number): void {
    this.newer[older] = newer;
    this.older[newer] = older;
  }
}

export class SlidingWindowStore implements RateLimitStore {
  readonly degraded = false;
  private readonly windows = new Map<string, SlidingWindow>();
  private readonly lifted = new Map<string, { at: number; windowMs: number }>();

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly capacity?: number,
  ) {}

  async admit(counters: readonly Counter[]): Promise<Admission> {
    const time = this.now();
    const quotas = this.quotasAt(time, counters);
    if (quotas.some(({ remaining }) => remaining === 0)) {
      return { admitted: false, quotas, giveBack: () => Promise.resolve() };
    }
    return {
      admitted: true,
      quotas: counters.map((counter) => this.windowOf(counter).add(counter.key, time)),
      giveBack: async (uncounted = counters) => {
        for (const counter of uncounted) this.windowOf(counter).remove(counter.key, time);
      },
    };
  }

  async look(counters: readonly Counter[]): Promise<Quota[]> {
    return this.quotasAt(this.now(), counters);
  }

  async lift(key: string, { agoMs, windowMs }: Lift): Promise<void> {
    const now = this.now();
    this.lifted.delete(key);
    this.lifted.set(key, { at: now - agoMs, windowMs });
    for (const [old, one] of this.lifted) {
      if (now - one.at < one.windowMs) break;
      this.lifted.delete(old);
    }
  }

  private quotasAt(time: number, counters: readonly Counter[]): Quota[] {
    return counters.map((counter) =>
      this.windowOf(counter).quota(counter.key, time, this.lifted.get(counter.liftKey ?? '')?.at),
    );
  }

  private windowOf({ name, limit, windowMs }: Counter): SlidingWindow {
    const known = this.windows.get(name);
    if (known) return known;
    const window = new SlidingWindow({ limit, windowMs }, this.capacity);
    this.windows.set(name, window);
    return window;
  }
}

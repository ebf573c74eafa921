import type { RateLimit } from '../config/readers.js';
import { AdmissionLog, logBytesPerSlot } from './admission-log.js';
import { INDEX_BYTES_PER_SLOT, KeyIndex } from './key-index.js';
import type { Quota } from './rate-limit-store.js';
import { RECENCY_BYTES_PER_SLOT, RecencyList } from './recency-list.js';

const MAX_BYTES = 96 * 2 ** 20;
/** more than the one key that a request can add, so that expired keys do not accumulate */
const EXPIRED_PER_REQUEST = 4;

/** Allows 880,000 keys for 10 requests each. At the default cost four threads make 330,000 hashes in 15 minutes. */
export function keyCapacity(limit: number): number {
  return Math.floor(MAX_BYTES / (logBytesPerSlot(limit) + INDEX_BYTES_PER_SLOT + RECENCY_BYTES_PER_SLOT));
}

// Keeps the exact logs of all keys of one rule in at most 96 MiB; if full, the key admitted longest ago makes room.
// Each request removes a few expired keys, never all at once.
export class SlidingWindow {
  private readonly index: KeyIndex;
  private readonly log: AdmissionLog;
  private readonly recency: RecencyList;

  constructor(
    private readonly rule: RateLimit,
    capacity = keyCapacity(rule.limit),
  ) {
    this.index = new KeyIndex(capacity);
    this.log = new AdmissionLog(capacity, rule.limit);
    this.recency = new RecencyList(capacity);
  }

  /** @param lifted the latest time that no longer counts for this key */
  quota(key: string, now: number, lifted?: number): Quota {
    return this.quotaOf(this.find(key, now, lifted), now);
  }

  add(key: string, now: number): Quota {
    this.removeExpired(now);
    let slot = this.find(key, now);
    if (slot === 0) slot = this.insert(key);
    else this.recency.remove(slot);
    this.recency.add(slot);
    this.log.append(slot, now);
    return this.quotaOf(slot, now);
  }

  remove(key: string, time: number): void {
    const slot = this.index.find(key);
    if (slot === 0) return;
    this.log.remove(slot, time);
    if (this.log.count(slot) === 0) this.free(slot);
  }

  private find(key: string, now: number, lifted?: number): number {
    const slot = this.index.find(key);
    if (slot !== 0) this.log.expire(slot, { now, age: this.rule.windowMs, lifted });
    return slot;
  }

  private quotaOf(slot: number, now: number): Quota {
    const { limit, windowMs } = this.rule;
    const used = this.log.count(slot);
    return {
      remaining: limit - used,
      resetMs: used === 0 ? windowMs : windowMs - (now - this.log.oldest(slot)),
    };
  }

  private insert(key: string): number {
    if (this.index.full) this.free(this.recency.oldest);
    return this.index.insert(key);
  }

  private removeExpired(now: number): void {
    for (let i = 0; i < EXPIRED_PER_REQUEST; i += 1) {
      const slot = this.recency.oldest;
      if (slot === 0) return;
      this.log.expire(slot, { now, age: this.rule.windowMs });
      if (this.log.count(slot) > 0) return;
      this.free(slot);
    }
  }

  private free(slot: number): void {
    this.index.remove(slot);
    this.recency.remove(slot);
    this.log.clear(slot);
  }
}

import type { RateLimit } from '../config/env.js';
import { AdmissionLog, logBytesPerSlot } from './admission-log.js';
import { ChunkedArray } from './chunked-array.js';
import { INDEX_BYTES_PER_SLOT, KeyIndex } from './key-index.js';
import type { Admission, RateLimitStore } from './rate-limit-store.js';
import { RECENCY_BYTES_PER_SLOT, RecencyList } from './recency-list.js';

const MAX_KEYS = 1_000_000;
const BUDGET_BYTES = 160 * 2 ** 20;
const WINDOW_BYTES_PER_SLOT = 8;
/** More than the one key that a request can add, so that expired keys never pile up. */
const EXPIRED_PER_REQUEST = 4;

/** How many keys fit the memory budget when no limit is larger than `largestLimit`. */
export function keyCapacity(largestLimit: number): number {
  const bytesPerKey =
    logBytesPerSlot(largestLimit) + INDEX_BYTES_PER_SLOT + RECENCY_BYTES_PER_SLOT + WINDOW_BYTES_PER_SLOT;
  return Math.min(MAX_KEYS, Math.floor(BUDGET_BYTES / bytesPerKey));
}

/**
 * An exact sliding log in this process's memory, at most 160 MiB of it. When that is full, the key admitted
 * longest ago makes room. Expired keys go a few with each request, never all at once.
 */
export class SlidingWindowStore implements RateLimitStore {
  readonly degraded = false;
  private readonly index: KeyIndex;
  private readonly log: AdmissionLog;
  private readonly recency = new RecencyList();
  /** the length of each slot's window, in milliseconds */
  private readonly windows = new ChunkedArray(Float64Array);

  /**
   * @param largestLimit of the rules that will come
   * @param now milliseconds of a clock that never steps back
   */
  constructor(
    private readonly largestLimit: number,
    private readonly now: () => number = () => performance.now(),
    capacity = keyCapacity(largestLimit),
  ) {
    this.index = new KeyIndex(capacity);
    this.log = new AdmissionLog(largestLimit);
  }

  close(): void {
    // Holds nothing but memory.
  }

  async admit(key: string, { limit, windowMs }: RateLimit): Promise<Admission> {
    if (limit > this.largestLimit) throw new RangeError('the limit is larger than the store was made for');
    const now = this.now();
    this.removeExpired(now);

    let slot = this.index.find(key);
    if (slot !== 0) this.log.expire(slot, now, windowMs);
    const admitted = slot === 0 || this.log.count(slot) < limit;
    if (admitted) {
      if (slot === 0) slot = this.insert(key);
      else this.recency.remove(slot);
      this.recency.add(slot);
      this.log.append(slot, now);
      this.windows.set(slot, windowMs);
    }
    return {
      admitted,
      remaining: limit - this.log.count(slot),
      resetMs: windowMs - (now - this.log.oldest(slot)),
    };
  }

  private insert(key: string): number {
    if (this.index.full) this.remove(this.recency.oldest);
    return this.index.insert(key);
  }

  private removeExpired(now: number): void {
    for (let i = 0; i < EXPIRED_PER_REQUEST; i++) {
      const slot = this.recency.oldest;
      if (slot === 0 || now - this.log.newest(slot) < this.windows.get(slot)) return;
      this.remove(slot);
    }
  }

  private remove(slot: number): void {
    this.index.remove(slot);
    this.recency.remove(slot);
    this.log.clear(slot);
  }
}

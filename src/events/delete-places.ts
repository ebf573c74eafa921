import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { MAX_ROWS_AT_ONCE } from '../database/in-batches.js';
import type { FeedRepository } from './feed.repository.js';

export async function deletePlaces(
  feed: FeedRepository,
  find: (limit: number) => Promise<number[]>,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const seqs = await find(MAX_ROWS_AT_ONCE);
    if (seqs.length > 0) await feed.delete(seqs);
    deleted += seqs.length;
    if (seqs.length < MAX_ROWS_AT_ONCE) return deleted;
    await yieldToEventLoop();
  }
}

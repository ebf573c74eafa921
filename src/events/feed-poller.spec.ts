import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FeedPoller } from './feed-poller.js';
import type { Rounds } from './feed-rounds.js';

const BACKLOG = 6;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('numbers a backlog without a pause, though nobody waits, until the process stops', async () => {
  let begun = 0;
  const begin = () => Promise.resolve({ last: ++begun, mayHaveMore: begun % BACKLOG !== 0 });
  const poller = new FeedPoller({ isAwaited: false, begin } as unknown as Rounds);
  poller.onApplicationBootstrap();

  await vi.advanceTimersByTimeAsync(250);
  expect(begun).toBe(BACKLOG);
  poller.beforeApplicationShutdown();
  await vi.advanceTimersByTimeAsync(5000);
  await poller.onApplicationShutdown();
  expect(begun).toBe(BACKLOG);
});

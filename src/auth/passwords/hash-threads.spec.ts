import { expect, it, vi } from 'vitest';
import { EventLoopMonitor } from './hash-queue.js';

function keepBusy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('reports a saturated event loop, until it is idle again', async () => {
  const load = new EventLoopMonitor();
  // On a busy machine a span can be spent waiting for a core, which looks like work: one of several does not.
  const untilIdle = () =>
    vi.waitFor(() => expect(load.isSaturated()).toBe(false), { interval: 100, timeout: 60_000 });
  await untilIdle();
  keepBusy(200);
  expect(load.isSaturated()).toBe(true);
  await untilIdle();
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EventLoopLoad } from './event-loop-load.js';

function keepBusy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('says that a loop is busy which had work all the time, and no longer when it had none', async () => {
  const load = new EventLoopLoad();
  await sleep(100);
  expect(load.isBusy()).toBe(false);
  keepBusy(200);
  expect(load.isBusy()).toBe(true);
  await sleep(200);
  expect(load.isBusy()).toBe(false);
});

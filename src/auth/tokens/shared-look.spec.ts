import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SharedLook } from './shared-look.js';

let looks = 0;
let shared: SharedLook;

beforeEach(() => {
  vi.useFakeTimers();
  looks = 0;
  shared = new SharedLook(() => {
    looks += 1;
    return Promise.resolve();
  });
});
afterEach(() => void vi.useRealTimers());

const ask = (count: number): Promise<void[]> =>
  Promise.all(Array.from({ length: count }, () => shared.ask()));

it('is made at once for the first who asks', async () => {
  await shared.ask();

  expect(looks).toBe(1);
});

it('is made once a second, however many ask', async () => {
  await shared.ask();
  for (let tick = 0; tick < 100; tick += 1) {
    void ask(500);
    await vi.advanceTimersByTimeAsync(100);
  }

  expect(looks).toBeGreaterThanOrEqual(10);
  expect(looks).toBeLessThanOrEqual(11);
});

it('begins after everybody has asked whom it answers', async () => {
  await shared.ask();
  const answered = shared.ask().then(() => looks);
  await vi.advanceTimersByTimeAsync(1000);

  expect(await answered).toBe(2);
});

it('is waited for by a bounded number', async () => {
  await shared.ask();
  let refused = 0;
  for (let i = 0; i < 1500; i += 1) void shared.ask().then(() => (refused += 1));
  await vi.advanceTimersByTimeAsync(0);
  expect(refused).toBe(500);

  await vi.advanceTimersByTimeAsync(1000);
  expect(refused).toBe(1500);
});

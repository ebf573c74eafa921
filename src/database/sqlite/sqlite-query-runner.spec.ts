import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ACQUIRE_TIMEOUT_MS } from '../transactions/database-errors.js';
import { Mutex } from './sqlite-query-runner.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('admits one holder at a time, first come, first served', async () => {
  const mutex = new Mutex();
  const inside: string[] = [];
  const visit = async (name: string): Promise<void> => {
    const leave = await mutex.enter();
    inside.push(name);
    await Promise.resolve();
    inside.push(`${name} left`);
    leave();
  };

  await Promise.all(['a', 'b', 'c'].map(visit));

  expect(inside).toEqual(['a', 'a left', 'b', 'b left', 'c', 'c left']);
  expect(mutex.isFree).toBe(true);
});

it('skips waiters that timed out', async () => {
  const mutex = new Mutex();
  const leave = await mutex.enter();
  const refusal = mutex.enter().catch((error: unknown) => error);
  vi.advanceTimersByTime(ACQUIRE_TIMEOUT_MS - 1);
  const next = mutex.enter();
  vi.advanceTimersByTime(1);
  expect(await refusal).toMatchObject({ code: 'POOL_ACQUIRE_TIMEOUT' });

  leave();
  expect(mutex.isFree).toBe(false);
  (await next)();
  expect(mutex.isFree).toBe(true);
});

it('does not take the lock from its holder', async () => {
  const mutex = new Mutex();
  await mutex.enter();
  vi.advanceTimersByTime(10 * ACQUIRE_TIMEOUT_MS);

  expect(mutex.isFree).toBe(false);
});

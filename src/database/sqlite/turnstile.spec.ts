import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ACQUIRE_TIMEOUT_MS } from '../acquire-timeout.js';
import { Turnstile } from './turnstile.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('lets one in at a time, in the order in which they came', async () => {
  const turnstile = new Turnstile();
  const inside: string[] = [];
  const visit = async (name: string): Promise<void> => {
    const leave = await turnstile.enter();
    inside.push(name);
    await Promise.resolve();
    inside.push(`${name} left`);
    leave();
  };

  await Promise.all(['a', 'b', 'c'].map(visit));

  expect(inside).toEqual(['a', 'a left', 'b', 'b left', 'c', 'c left']);
  expect(turnstile.isFree).toBe(true);
});

it('passes over who gave up waiting', async () => {
  const turnstile = new Turnstile();
  const leave = await turnstile.enter();
  const refusal = turnstile.enter().catch((error: unknown) => error);
  vi.advanceTimersByTime(ACQUIRE_TIMEOUT_MS - 1);
  const next = turnstile.enter();
  vi.advanceTimersByTime(1);
  expect(await refusal).toMatchObject({ code: 'POOL_ACQUIRE_TIMEOUT' });

  leave();
  expect(turnstile.isFree).toBe(false);
  (await next)();
  expect(turnstile.isFree).toBe(true);
});

it('does not end the turn of who is inside', async () => {
  const turnstile = new Turnstile();
  await turnstile.enter();
  vi.advanceTimersByTime(10 * ACQUIRE_TIMEOUT_MS);

  expect(turnstile.isFree).toBe(false);
});

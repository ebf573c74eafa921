import { Logger } from '@nestjs/common';
import { afterEach, expect, it, vi } from 'vitest';
import { repeat } from './repeated-work.js';

afterEach(() => vi.restoreAllMocks());

it('repeats due work until the process stops, and reports the first of several failures', async () => {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const stopping = new AbortController();
  const outcomes = ['done', 'failed', 'failed', 'done', 'failed', 'done'];
  const reported: number[] = [];
  let asked = 0;
  let runs = 0;
  await repeat(
    {
      of: 'Test',
      failure: 'cannot count',
      periodMs: 1,
      isDue: () => (asked += 1) % 2 === 0,
      run: async () => {
        const outcome = outcomes[runs];
        reported.push(warn.mock.calls.length);
        runs += 1;
        if (runs === outcomes.length) stopping.abort();
        if (outcome === 'failed') throw new Error('out of order');
      },
    },
    stopping.signal,
  );
  expect(runs).toBe(outcomes.length);
  expect(asked).toBe(2 * runs);
  expect(reported).toEqual([0, 0, 1, 1, 1, 2]);
  expect(warn.mock.calls[0]).toEqual([{ msg: 'cannot count', err: new Error('out of order') }]);
});

it('waits for the pause that a run asks for, and no longer than the process works', async () => {
  const stopping = new AbortController();
  const { promise: ran, resolve } = Promise.withResolvers<void>();
  let runs = 0;
  const run = async () => {
    runs += 1;
    resolve();
    return 3_600_000;
  };
  const work = repeat({ of: 'Test', failure: 'cannot count', periodMs: 1, run }, stopping.signal);
  await ran;
  stopping.abort();
  await work;
  expect(runs).toBe(1);
});

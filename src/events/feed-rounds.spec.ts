import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FeedNumbering } from './feed-numbering.js';
import { FeedRounds } from './feed-rounds.js';

const BACKLOG = 6;
const INTERVAL_MS = 100;
/** A timer of Node can be a little early by the clock that is read here. */
const TOLERANCE_MS = 2;

describe('the rounds of a process', () => {
  it('begin at most once in 100 ms, however many callers share them, and no caller shares one that began before its call', async () => {
    const begun: number[] = [];
    const round = () => {
      begun.push(performance.now());
      return Promise.resolve({ last: begun.length, mayHaveMore: false });
    };
    const rounds = new FeedRounds({ round } as unknown as FeedNumbering);

    const asked: number[] = [];
    const answers: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      asked.push(performance.now());
      const shared = await Promise.all(Array.from({ length: 50 }, () => rounds.begin()));
      expect(new Set(shared).size).toBe(1);
      answers.push(shared[0]!.last);
    }

    expect(answers).toEqual([1, 2, 3, 4]);
    for (const [turn, at] of begun.entries()) expect(at).toBeGreaterThanOrEqual(asked[turn]!);
    const gaps = begun.slice(1).map((at, turn) => at - begun[turn]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(INTERVAL_MS - TOLERANCE_MS);
  });
});

it('numbers a backlog without a pause, though no request waits, until the process stops', async () => {
  let begun = 0;
  const round = () => Promise.resolve({ last: ++begun, mayHaveMore: begun % BACKLOG !== 0 });
  const rounds = new FeedRounds({ round } as unknown as FeedNumbering);
  rounds.start();

  await sleep(700);
  expect(begun).toBe(BACKLOG);
  rounds.beforeApplicationShutdown();
  await rounds.onApplicationShutdown();
  expect(begun).toBe(BACKLOG);
});

import { describe, expect, it } from 'vitest';
import { nextTurn } from './mails.js';

const MINUTE = 60_000;

describe('the turns of mails', () => {
  it.each([
    ['a sender without a waiting mail has a turn now', undefined, 5 * MINUTE, 5 * MINUTE],
    ['the next is a minute behind the one before', 5 * MINUTE, 5 * MINUTE, 6 * MINUTE],
    ['however many wait', 90 * MINUTE, 5 * MINUTE, 91 * MINUTE],
    ['one that has waited for longer puts nothing before newcomers', MINUTE, 5 * MINUTE, 5 * MINUTE],
  ])('%s', (_, last, now, expected) => {
    expect(nextTurn(last, now)).toBe(expected);
  });

  it('interleave senders, and put a newcomer behind first turns only', () => {
    const waiting: { sender: string; turn: number }[] = [];
    const enqueue = (sender: string, now: number): void => {
      const last = waiting.findLast((one) => one.sender === sender)?.turn;
      waiting.push({ sender, turn: nextTurn(last, now) });
    };
    for (const sender of ['a', 'b', 'c', 'd']) for (let i = 0; i < 100; i += 1) enqueue(sender, 0);
    enqueue('e', 5000);

    const order = waiting.toSorted((one, other) => one.turn - other.turn).map(({ sender }) => sender);
    expect(order.slice(0, 9)).toEqual(['a', 'b', 'c', 'd', 'e', 'a', 'b', 'c', 'd']);
  });
});

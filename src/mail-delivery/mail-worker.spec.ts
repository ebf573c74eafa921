import { describe, expect, it } from 'vitest';
import type { DueMails } from '../mail/mails.repository.js';
import { choose, type MailRank } from './mail-choice.js';
import { SEND_TIMEOUT_MS } from '../mail/smtp-sender.js';
import { LEASE_MS, retryAfterMs } from './mail-worker.js';
import type { MailPriority } from '../mail/mail.entity.js';

const some = (count: number, priority: MailPriority, attempts = 0): MailRank[] =>
  Array.from({ length: count }, () => ({ priority, attempts }));
const due = (fresh: MailRank[], retries: MailRank[] = []): DueMails<MailRank> => ({ fresh, retries });
const NONE: DueMails<never> = { fresh: [], retries: [] };

describe('the choice of mails to send', () => {
  it.each<[string, DueMails<MailRank>[], MailRank[], MailRank[]]>([
    ['nothing of nothing', [NONE, NONE, NONE], [], []],
    ['five at once', [due(some(9, 0)), NONE, NONE], [], some(5, 0)],
    [
      'a class before the next',
      [due(some(2, 0)), due(some(1, 1)), due(some(9, 2))],
      [],
      [...some(2, 0), ...some(1, 1), ...some(2, 2)],
    ],
    ['a slot left for codes', [NONE, due(some(2, 1)), due(some(9, 2))], [], [...some(2, 1), ...some(2, 2)]],
    ['the last slot for a code', [due(some(1, 0)), NONE, due(some(9, 2))], some(4, 2), some(1, 0)],
    ['two slots left by retries', [due([], some(9, 0, 1)), NONE, NONE], [], some(3, 0, 1)],
    [
      'retries and new ones by turns',
      [due(some(9, 0), some(9, 0, 2)), NONE, NONE],
      [],
      [...some(1, 0), ...some(1, 0, 2), ...some(1, 0), ...some(1, 0, 2), ...some(1, 0)],
    ],
    [
      'new ones although retries are being sent',
      [due(some(9, 0), some(9, 0, 2)), NONE, NONE],
      some(3, 2, 1),
      [...some(2, 0)],
    ],
  ])('%s', (_, classes, sending, expected) => {
    expect(choose(classes, sending)).toEqual(expected);
  });

  it('differs among instances that ask at the same moment, within the first turns', () => {
    const waiting = Array.from({ length: 50 }, (_, turn) => ({ priority: 2 as const, attempts: 0, turn }));
    const choices = Array.from({ length: 50 }, () =>
      choose([NONE, NONE, { fresh: waiting, retries: [] }], []),
    );
    expect(new Set(choices.map((one) => one.map(({ turn }) => turn).join())).size).toBeGreaterThan(1);
    expect(Math.max(...choices.flat().map(({ turn }) => turn))).toBeLessThan(10);
  });
});

const SECOND = 1000;

describe('a mail that could not be sent', () => {
  it('waits for longer after each attempt, and is given up after a day', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 29, 30].map((attempts) => retryAfterMs(attempts));
    const seconds = [1, 5, 30, 120, 600, 3600, 3600];
    expect(pauses).toEqual([...seconds.map((one) => one * SECOND), undefined]);
  });

  // Else another instance sends it while the first attempt continues.
  it('stays leased for longer than an attempt with its statements may take', () => {
    expect(LEASE_MS).toBeGreaterThanOrEqual(SEND_TIMEOUT_MS + 10 * SECOND);
  });
});

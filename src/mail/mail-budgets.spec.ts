import { describe, expect, it } from 'vitest';
import { type BudgetedKind, type Counted, waitForChangesMs, waitMs } from './mail-budgets.js';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 24);
const so = (mails: number, minutesAgo?: number): Counted => ({
  mails,
  latest: minutesAgo === undefined ? undefined : NOW - minutesAgo * MINUTE,
});
const NONE = so(0);

describe('the budget of mails', () => {
  it.each<[string, BudgetedKind, Counted, Counted, boolean, number]>([
    ['the first goes at once', 'password_reset', NONE, NONE, false, 0],
    ['the fifth of a sender goes at once', 'password_reset', so(4, 0), so(4, 0), false, 0],
    ['the sixth of a sender waits for an hour', 'password_reset', so(5, 0), so(5, 0), false, 60],
    ['and goes after it', 'password_reset', so(5, 60), so(5, 60), false, 0],
    ["others' nine leave one", 'password_reset', NONE, so(9, 0), false, 0],
    [
      'after ten of others a code is never older than it is valid',
      'password_reset',
      NONE,
      so(10, 0),
      false,
      15,
    ],
    ['and another goes when it is over', 'password_reset', NONE, so(50, 15), false, 0],
    ["others' do not count for a known address", 'password_reset', NONE, so(99, 0), true, 0],
    ['its own do', 'password_reset', so(5, 10), so(99, 0), true, 50],
    ['a verification is treated the same way', 'email_verification', NONE, so(10, 5), false, 10],
    ['a change waits for longer: strangers ask for it', 'email_change', NONE, so(10, 5), false, 55],
    ['so do notices', 'password_changed', so(5, 1), so(5, 1), false, 59],
    ['of both kinds', 'email_change_asked', NONE, so(10, 1), false, 59],
  ])('%s', (_, kind, bySender, byAll, isKnown, minutes) => {
    expect(waitMs(kind, { bySender, byAll }, NOW, isKnown)).toBe(minutes * MINUTE);
  });

  it('lets a user have 20 codes mailed to other addresses, then one an hour', () => {
    expect(waitForChangesMs(so(19, 0), NOW)).toBe(0);
    expect(waitForChangesMs(so(20, 20), NOW)).toBe(40 * MINUTE);
    expect(waitForChangesMs(so(20, 60), NOW)).toBe(0);
  });
});

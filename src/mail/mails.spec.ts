import { expect, it } from 'vitest';
import { firstEntityIdAt } from '../identifiers/entity-id.js';
import { MAIL_KINDS, type MailKind } from './mail.entity.js';
import { nextTurn, TooManyMailsError } from './mails.js';
import { findExcess, priorityOf } from './mails.limits.js';

const MINUTE = 60_000;
const DAY = 24 * 60;
const NOW = Date.UTC(2026, 10, 24);

type Reached = readonly (number | null)[];

/** @param reached for each limit of the kind: null, or how many minutes ago the email was written that decides */
async function waitMinutes(kind: MailKind, reached: Reached, isKnownClient = false): Promise<number> {
  const mail = { kind, recipient: 'ada@example.com', senderId: 's', orgId: 'o' };
  const row = Object.fromEntries(
    reached.map((minutes, index) => [
      `id${index}`,
      minutes === null ? null : firstEntityIdAt(NOW - minutes * MINUTE),
    ]),
  );
  const excess = await findExcess(() => Promise.resolve([row]), mail, NOW, { isKnownClient });
  return (excess?.waitMs ?? 0) / MINUTE;
}

it.each<[string, MailKind, Reached, boolean, number]>([
  ['nothing is reached', 'password_reset', [null, null], false, 0],
  ['the sixth of a sender waits for an hour', 'password_reset', [0, null], false, 60],
  ['after ten of others a code is never older than it is valid', 'password_reset', [null, 0], false, 15],
  ['the sender of a known address waits for its own alone', 'password_reset', [10], true, 50],
  ['a verification is treated the same way', 'email_verification', [null, 5], false, 10],
  ['a change waits for longer: strangers ask for it', 'email_change', [null, 5, null], false, 55],
  ['and for the other changes of its sender', 'email_change', [null, null, 20], false, 40],
  ['the longest wait counts', 'email_change', [30, 20, 10], false, 50],
  ['of each kind', 'email_change_asked', [null, 1], false, 59],
  ['an invitation waits until a day is over', 'invitation', [null, 5, null, null, 9], false, DAY - 5],
])('%s', async (_, kind, reached, isKnownClient, minutes) => {
  expect(await waitMinutes(kind, reached, isKnownClient)).toBe(minutes);
});

it('names the limit in the log line of a refused request', () => {
  const error = new TooManyMailsError('email_change', { waitMs: 1500, refusal: 'Too many.' });
  expect(error).toMatchObject({ code: 'rate_limited', options: { limit: 'mail-email-change' } });
  expect(error.headers).toEqual({ 'Retry-After': '2' });
});

it('sends codes that users wait for first, then notices and changes, then invitations', () => {
  const byPriority = [0, 1, 2].map((priority) => MAIL_KINDS.filter((kind) => priorityOf(kind) === priority));
  expect(byPriority[0]).toEqual(['password_reset', 'email_verification']);
  expect(byPriority[2]).toEqual(['invitation']);
});

it('interleaves senders by turns a minute apart, and puts a newcomer behind first turns only', () => {
  const waiting: { sender: string; turn: number }[] = [];
  const enqueue = (sender: string, now: number): void => {
    const last = waiting.findLast((one) => one.sender === sender)?.turn;
    waiting.push({ sender, turn: nextTurn(last, now) });
  };
  for (const sender of ['a', 'b', 'c', 'd']) for (let i = 0; i < 100; i += 1) enqueue(sender, 0);
  enqueue('e', 5000);

  const order = waiting.toSorted((one, other) => one.turn - other.turn).map(({ sender }) => sender);
  expect(order.slice(0, 9)).toEqual(['a', 'b', 'c', 'd', 'e', 'a', 'b', 'c', 'd']);
  // One that has waited for longer puts nothing before newcomers.
  expect(nextTurn(MINUTE, 5 * MINUTE)).toBe(5 * MINUTE);
});

import type { MailKind, MailPriority } from './mail.entity.js';

const PRIORITIES: Record<MailKind, MailPriority> = {
  // These go to the owner of an account only, who waits for them and has a quarter of an hour.
  password_reset: 0,
  email_verification: 0,
  // Anybody with an account can have a code mailed to any address.
  email_change: 1,
  email_change_asked: 1,
  email_changed: 1,
  password_changed: 1,
  invitation: 2,
};

/** How far apart the turns of one sender are. */
const TURN_MS = 60_000;

export function priorityOf(kind: MailKind): MailPriority {
  return PRIORITIES[kind];
}

/**
 * A sender's next mail takes its turn a minute after the one before it that still waits (epoch milliseconds). Turns
 * are an order, no delay: where nobody else waits, all go at once. Since the turns of newcomers follow the clock, no
 * number of them can hold a mail back for good.
 */
export function nextTurn(lastWaiting: number | undefined, now: number): number {
  return lastWaiting === undefined ? now : Math.max(now, lastWaiting + TURN_MS);
}

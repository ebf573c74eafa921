import type { MailKind, MailPriority } from './mail.entity.js';

const PRIORITIES: Record<MailKind, MailPriority> = {
  // These go only to the owner of an account, who waits for them and has a quarter of an hour.
  password_reset: 0,
  email_verification: 0,
  // Anybody with an account can have a code mailed to any address.
  email_change: 1,
  email_change_asked: 1,
  email_changed: 1,
  password_changed: 1,
  reset_code_issued: 1,
  second_factor_enabled: 1,
  second_factor_removed: 1,
  second_factor_guessed: 1,
  recovery_codes_renewed: 1,
  recovery_code_used: 1,
  invitation: 2,
};

const TURN_MS = 60_000;

export function priorityOf(kind: MailKind): MailPriority {
  return PRIORITIES[kind];
}

// Returns the turn of a sender's next mail (epoch milliseconds): a minute after the last one that still waits. Turns
// are an order, not a delay: if nobody else waits, all go at once. Turns of newcomers follow the clock, so they
// cannot hold a mail back for good.
export function nextTurn(lastWaiting: number | undefined, now: number): number {
  return lastWaiting === undefined ? now : Math.max(now, lastWaiting + TURN_MS);
}

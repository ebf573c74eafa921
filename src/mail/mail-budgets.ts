import type { MailKind } from './mail.entity.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Allows some emails in a day and then one per pause, so that nobody can use up all that others get. */
interface Allowance {
  mails: number;
  pauseMs: number;
}

/** Limits the emails of one kind to one address: from one sender, and from all together. */
export interface MailBudget {
  bySender: Allowance;
  byAll: Allowance;
}

export interface Counted {
  mails: number;
  /** epoch milliseconds of the day's latest mail; undefined if there is none */
  latest: number | undefined;
}

export type Counts = Record<keyof MailBudget, Counted>;

const PER_SENDER: Allowance = { mails: 5, pauseMs: HOUR_MS };
const HOURLY: MailBudget = { bySender: PER_SENDER, byAll: { mails: 10, pauseMs: HOUR_MS } };
/** The pause is a code's life, so that a mailbox either holds a valid code or gets one. */
const WHILE_CODES_LIVE: MailBudget = { bySender: PER_SENDER, byAll: { mails: 10, pauseMs: 15 * MINUTE_MS } };

/** Each kind has its own budget, so that no other kind uses it up. Invitations have limits instead. */
const BUDGETS: Record<Exclude<MailKind, 'invitation'>, MailBudget> = {
  password_reset: WHILE_CODES_LIVE,
  email_verification: WHILE_CODES_LIVE,
  email_change: HOURLY,
  email_change_asked: HOURLY,
  email_changed: HOURLY,
  password_changed: HOURLY,
  reset_code_issued: HOURLY,
  second_factor_enabled: HOURLY,
  second_factor_removed: HOURLY,
  second_factor_guessed: HOURLY,
  recovery_codes_renewed: HOURLY,
  recovery_code_used: HOURLY,
};

/** limits the codes that one user has mailed to other addresses, all together */
const CHANGES_BY_SENDER: Allowance = { mails: 20, pauseMs: HOUR_MS };

export type BudgetedKind = keyof typeof BUDGETS;

const NOTICES = [
  'email_change_asked',
  'email_changed',
  'password_changed',
  'reset_code_issued',
  'second_factor_enabled',
  'second_factor_removed',
  'second_factor_guessed',
  'recovery_codes_renewed',
  'recovery_code_used',
] as const;

export type NoticeKind = (typeof NOTICES)[number];

export function isNotice(kind: MailKind): kind is NoticeKind {
  return (NOTICES as readonly MailKind[]).includes(kind);
}

/** @param isKnown whether the account has logged in from the sender's address: then requests of others do not count */
export function waitMs(kind: BudgetedKind, counts: Counts, now: number, isKnown = false): number {
  const { bySender, byAll } = BUDGETS[kind];
  const forSender = waitOf(bySender, counts.bySender, now);
  return isKnown ? forSender : Math.max(forSender, waitOf(byAll, counts.byAll, now));
}

export function waitForChangesMs(counted: Counted, now: number): number {
  return waitOf(CHANGES_BY_SENDER, counted, now);
}

function waitOf({ mails, pauseMs }: Allowance, counted: Counted, now: number): number {
  if (counted.mails < mails || counted.latest === undefined) return 0;
  return Math.max(0, counted.latest + pauseMs - now);
}

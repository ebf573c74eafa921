import type { MailKind, MailPriority } from './mail.entity.js';
import type { WaitingMail } from './mail-composers.js';

const PRIORITIES: Record<MailKind, MailPriority> = {
  // These go only to the owner of an account, who waits for them and has 15 minutes.
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
// cannot hold an email back for good.
export function nextTurn(lastWaiting: number | undefined, now: number): number {
  return lastWaiting === undefined ? now : Math.max(now, lastWaiting + TURN_MS);
}

/** emails that one process sends at the same time */
export const MAX_CONCURRENT = 5;
/** keeps a place for codes that somebody waits for, however slowly servers take other emails */
const MAX_OTHERS = 4;
/** leaves two places to new emails, because retries most likely fail again */
const MAX_RETRIES = 3;
/** more than begin at once, so that instances that ask at the same moment choose different emails */
export const CANDIDATES = 2 * MAX_CONCURRENT;

export type Placed = Pick<WaitingMail, 'priority' | 'attempts'>;

export interface Due<M extends Placed> {
  fresh: readonly M[];
  /** tried before, or left by a process that died */
  retries: readonly M[];
}

/** Chooses the emails to begin, class by class, new emails and retries in alternation. */
export function choose<M extends Placed>(classes: readonly Due<M>[], sending: readonly Placed[]): M[] {
  const taken: Placed[] = [...sending];
  const chosen: M[] = [];
  for (const { fresh, retries } of classes) {
    for (const mail of alternating(someOf(fresh), someOf(retries))) {
      if (!hasPlace(mail, taken)) continue;
      taken.push(mail);
      chosen.push(mail);
    }
  }
  return chosen;
}

function hasPlace(mail: Placed, taken: readonly Placed[]): boolean {
  const others = taken.filter(({ priority }) => priority > 0).length;
  const retries = taken.filter(isRetry).length;
  return (
    taken.length < MAX_CONCURRENT &&
    (mail.priority === 0 || others < MAX_OTHERS) &&
    (!isRetry(mail) || retries < MAX_RETRIES)
  );
}

function isRetry({ attempts }: Placed): boolean {
  return attempts > 0;
}

function someOf<M>(mails: readonly M[]): M[] {
  return mails.slice(0, CANDIDATES).toSorted(() => Math.random() - 0.5);
}

function alternating<M>(some: readonly M[], others: readonly M[]): M[] {
  const length = Math.max(some.length, others.length);
  return Array.from({ length }, (_, i) => [some[i], others[i]].filter((one) => one !== undefined)).flat();
}

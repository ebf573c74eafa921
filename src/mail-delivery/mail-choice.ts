import type { DueMails, WaitingMail } from '../mail/mails.repository.js';

export const MAX_CONCURRENT = 5;
const MAX_OTHERS = 4;
const MAX_RETRIES = 3;
/** more than `MAX_CONCURRENT`, so that instances that search at the same moment choose different emails */
export const CANDIDATES = 2 * MAX_CONCURRENT;

export type MailRank = Pick<WaitingMail, 'priority' | 'attempts'>;

export function choose<M extends MailRank>(
  classes: readonly DueMails<M>[],
  sending: readonly MailRank[],
): M[] {
  const chosen: M[] = [];
  for (const { fresh, retries } of classes) {
    for (const mail of alternating(someOf(fresh), someOf(retries))) {
      if (hasSlot(mail, [...sending, ...chosen])) chosen.push(mail);
    }
  }
  return chosen;
}

function hasSlot(mail: MailRank, taken: readonly MailRank[]): boolean {
  const others = taken.filter(({ priority }) => priority > 0).length;
  const retries = taken.filter(({ attempts }) => attempts > 0).length;
  return (
    taken.length < MAX_CONCURRENT &&
    (mail.priority === 0 || others < MAX_OTHERS) &&
    (mail.attempts === 0 || retries < MAX_RETRIES)
  );
}

/** Shuffles by random keys, because a random comparison would prefer some orders. */
function someOf<M>(mails: readonly M[]): M[] {
  const keyed = mails.slice(0, CANDIDATES).map((mail) => ({ mail, key: Math.random() }));
  return keyed.toSorted((one, other) => one.key - other.key).map(({ mail }) => mail);
}

function alternating<M>(some: readonly M[], others: readonly M[]): M[] {
  const length = Math.max(some.length, others.length);
  return Array.from({ length }, (_, i) => [some[i], others[i]].filter((one) => one !== undefined)).flat();
}

import type {
  Admission,
  Cut,
  History,
  Introspection,
  Link,
  Operation,
  Span,
  Timed,
  Violation,
} from '../history.js';
import { broken } from './org-reads.js';
import { countAtMost } from './org-log.js';

type Use = Timed<Admission | Introspection>;

const LATE_MS = 1000;
const LATE_WITH_FAULTS_MS = 5000;
/** A cut without an answer may take effect until then. Nothing is frozen for so long. */
const UNSETTLED_MS = 10_000;

const isCut = (one: Operation): one is Timed<Cut> => one.kind === 'cut' && one.result !== 'failed';
const isUse = (one: Operation): one is Use => 'links' in one;

class Cuts {
  private readonly ofLink: ReadonlyMap<string, readonly Timed<Cut>[]>;

  constructor(operations: readonly Operation[]) {
    this.ofLink = Map.groupBy(operations.filter(isCut), ({ link }) => link);
  }

  /** The first that was acknowledged, if one was before that time. */
  before(time: number, links: readonly Link[]): Timed<Cut> | undefined {
    let first: Timed<Cut> | undefined;
    for (const { name, endedAt } of links) {
      for (const cut of this.ofLink.get(name) ?? []) {
        const isBefore = cut.result === 'ok' && endedAt < cut.startedAt && cut.endedAt < time;
        if (isBefore && cut.endedAt < (first?.endedAt ?? Infinity)) first = cut;
      }
    }
    return first;
  }

  mayHaveEnded({ links, endedAt }: Use): boolean {
    return links.some(({ name, startedAt }) =>
      (this.ofLink.get(name) ?? []).some((cut) => {
        const until = cut.result === 'ok' ? cut.endedAt : cut.endedAt + UNSETTLED_MS;
        return cut.startedAt < endedAt && until > startedAt;
      }),
    );
  }
}

/** A token ends with the first of its links, at Accounts at once and at guards after one poll; no other one ends. */
export function brokenDelegations({ operations, polls, stalls, faults }: History): Violation[] {
  const cuts = new Cuts(operations);
  const pollsOf = Map.groupBy(polls, ({ guard }) => guard);
  const endsOf = new Map([...pollsOf].map(([guard, some]) => [guard, some.map(({ endedAt }) => endedAt)]));
  const lateMs = faults.length > 0 ? LATE_WITH_FAULTS_MS : LATE_MS;

  const violationsOf = (use: Use): Violation[] => {
    const { links, startedAt, result, status } = use;
    const isActive = use.kind === 'admission' ? result === 'ok' : use.isActive;
    if (!isActive) {
      const isRefused = use.kind === 'admission' ? status === 401 || status === 403 : isActive === false;
      if (!isRefused || cuts.mayHaveEnded(use)) return [];
      const names = links.map(({ name }) => name).join(', ');
      return [broken('lost_link', `a token was refused, and no client has ended ${names}`, [use])];
    }
    const cut = cuts.before(startedAt, links);
    if (!cut) return [];
    const text = `accepted after the end of ${cut.link} was acknowledged`;
    if (use.kind === 'introspection') return [broken('dead_at_accounts', text, [cut, use])];
    const last = countAtMost(endsOf.get(use.guard) ?? [], startedAt) - 1;
    const poll = pollsOf.get(use.guard)?.[last];
    const ms = startedAt - cut.endedAt - stalledMs(stalls, cut.endedAt, startedAt);
    return [
      ...(poll && cut.endedAt < poll.startedAt
        ? [broken('dead_link', `${text}, and the guard has polled the feed since`, [cut, use])]
        : []),
      ...(ms > lateMs ? [broken('late_end', `${text} ${Math.round(ms)} ms before`, [cut, use])] : []),
    ];
  };
  return operations.filter(isUse).flatMap(violationsOf);
}

export interface Refusal {
  link: string;
  guard: string;
  ms: number;
}

/** The first refusal of each token that was admitted after the acknowledgement, in milliseconds since then. */
export function lateRefusals({ operations }: History): Refusal[] {
  const cuts = new Cuts(operations);
  const admissions = operations.filter((one) => one.kind === 'admission');
  return [...Map.groupBy(admissions, ({ links }) => links)].flatMap(([links, uses]) => {
    const cut = cuts.before(Infinity, links);
    const inOrder = uses.toSorted((one, other) => one.startedAt - other.startedAt);
    const last = inOrder.findLastIndex(({ result, startedAt }) => {
      return result === 'ok' && cut && startedAt > cut.endedAt;
    });
    const refusal = last < 0 ? undefined : inOrder[last + 1];
    return cut && refusal
      ? [{ link: cut.link, guard: refusal.guard, ms: refusal.endedAt - cut.endedAt }]
      : [];
  });
}

/** A guard that gets no processor cannot apply what it is sent. */
function stalledMs(stalls: readonly Span[], from: number, to: number): number {
  const within = stalls.map(({ startedAt, endedAt }) => Math.min(endedAt, to) - Math.max(startedAt, from));
  return within.reduce((sum, ms) => sum + Math.max(0, ms), 0);
}
